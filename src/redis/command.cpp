#include "src/redis/command.h"

#include <array>
#include <charconv>

namespace duly::redis {
namespace {

void append_size(std::string& out, char kind, std::size_t size) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size).ptr;
  out += kind;
  out.append(digits.data(), end);
  out += "\r\n";
}

}  // namespace

Command& Command::add(std::string_view argument) {
  append_size(body_, '$', argument.size());
  body_ += argument;
  body_ += "\r\n";
  ++count_;
  return *this;
}

Command& Command::add(std::int64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

std::string Command::head() const {
  std::string head;
  append_size(head, '*', count_);
  return head;
}

}  // namespace duly::redis
