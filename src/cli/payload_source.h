#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <optional>
#include <string>

namespace duly::cli {

/// The payload of a put or an edit, as the command line names it: the text itself, `-` for standard
/// input, `@file`, or --payload TEXT for a text that begins with one of these.
class PayloadSource {
 public:
  void add_to(CLI::App& command);

  [[nodiscard]] bool is_given() const { return word_.has_value() || literal_.has_value(); }

  /// Reads it; at most one byte more than `limit`, so that input without end is refused at once.
  ///
  /// Errors  invalid_argument: too large, unreadable, or named twice.
  [[nodiscard]] std::string read(std::size_t limit) const;

 private:
  std::optional<std::string> word_{};
  std::optional<std::string> literal_{};
};

}  // namespace duly::cli
