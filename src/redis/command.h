#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace duly::redis {

/// One command in RESP, built argument by argument into one buffer.
class Command {
 public:
  Command() = default;
  Command(std::initializer_list<std::string_view> arguments) {
    for (const std::string_view argument : arguments) add(argument);
  }

  Command& add(std::string_view argument);
  Command& add(std::int64_t number);
  /// The arguments of another command behind these.
  Command& append(const Command& other) {
    body_ += other.body_;
    count_ += other.count_;
    return *this;
  }
  void reserve(std::size_t bytes) { body_.reserve(bytes); }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return body_.size() + 16; }
  /// "*<count>\r\n", to be sent before body().
  [[nodiscard]] std::string head() const;
  [[nodiscard]] const std::string& body() const noexcept { return body_; }

 private:
  std::size_t count_ = 0;
  std::string body_;
};

}  // namespace duly::redis
