#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/cli/input_file.h"

namespace duly::cli {

struct Line {
  std::uint64_t number = 0;  ///< 1 is the first.
  std::string text{};        ///< Without its end; empty if too long.
  bool is_too_long = false;
};

/// The lines of a file, one after the other; holds one line and one block, whatever the file's
/// size.
class LineReader {
 public:
  /// Lines longer than `most` bytes are passed over, and said so.
  LineReader(const std::string& path, std::size_t most) : input_(path), most_(most) {}

  /// The next line; empty at the end. The last one needs no line feed.
  std::optional<Line> next();

  /// Whether next() would wait for input.
  [[nodiscard]] bool would_wait() const;

  [[nodiscard]] std::uint64_t bytes_done() const { return bytes_done_; }
  [[nodiscard]] std::optional<std::size_t> size() const { return input_.size(); }

 private:
  bool fill();

  InputFile input_;
  std::size_t most_;
  std::string block_{};
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_done_ = 0;
};

}  // namespace duly::cli
