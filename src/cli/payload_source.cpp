#include "src/cli/payload_source.h"

#include <algorithm>

#include "src/cli/arguments.h"
#include "src/cli/input_file.h"
#include "src/core/check.h"

namespace duly::cli {
namespace {

std::string read_all(const std::string& path, std::size_t limit) {
  constexpr std::size_t kStep = 64UL * 1024;
  InputFile input(path);
  const auto size = input.size();
  if (size && *size > limit) {
    throw Error(ErrorCode::invalid_argument, "payload: " + std::to_string(*size) +
                                                 " bytes, expected 0 .. " + std::to_string(limit));
  }
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(std::min(before + kStep, limit + 1));
    const std::size_t count = input.read(bytes.data() + before, bytes.size() - before);
    bytes.resize(before + count);
    if (bytes.size() > limit) {
      throw Error(ErrorCode::invalid_argument, "payload: more than " + std::to_string(limit) +
                                                   " bytes, expected 0 .. " +
                                                   std::to_string(limit));
    }
    if (count == 0) return bytes;
  }
}

}  // namespace

void PayloadSource::add_to(CLI::App& command) {
  CLI::Option* const word =
      add_text(command, "PAYLOAD", word_, "The payload; - reads standard input, @FILE a file")
          ->type_name("");
  add_text(command, "--payload", literal_, "The payload as it stands, also one like - or @x")
      ->excludes(word);
}

std::string PayloadSource::read(std::size_t limit) const {
  std::string bytes = literal_.value_or("");
  if (word_) {
    if (*word_ == "-") {
      bytes = read_all("-", limit);
    } else if (word_->starts_with('@')) {
      bytes = read_all(word_->substr(1), limit);
    } else {
      bytes = *word_;
    }
  }
  core::require(core::check_payload(bytes, limit));
  return bytes;
}

}  // namespace duly::cli
