#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace duly::redis {

/// One RESP2 reply, decoded.
struct Reply {
  enum class Kind { nil, integer, text, status, error, array };

  Kind kind = Kind::nil;
  std::int64_t integer = 0;
  std::string text{};          ///< Of text, status and error.
  std::vector<Reply> items{};  ///< Of array.

  [[nodiscard]] bool is_error() const noexcept { return kind == Kind::error; }
  /// The first word of an error: "ERR", "READONLY", "NOSCRIPT" ...; empty if it is none.
  [[nodiscard]] std::string_view error_word() const noexcept;
};

}  // namespace duly::redis
