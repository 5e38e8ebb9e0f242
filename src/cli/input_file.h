#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace duly::cli {

/// Input that ends by itself; owns its descriptor unless that is standard input.
class InputFile {
 public:
  /// `-` is standard input. Errors  invalid_argument: it cannot be opened.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Up to `size` bytes; 0 at the end. Errors  invalid_argument: it cannot be read.
  std::size_t read(char* into, std::size_t size);

  /// Whether read() would answer at once.
  [[nodiscard]] bool is_ready() const;

  /// Known for plain files only.
  [[nodiscard]] std::optional<std::size_t> size() const;

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace duly::cli
