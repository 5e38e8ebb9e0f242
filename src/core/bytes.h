#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace duly::core {

/// Whether the bytes are valid UTF-8 (RFC 3629: no surrogates, no overlong forms).
bool is_utf8(std::string_view bytes);

/// At most `most` bytes from the front, never ending in the middle of a UTF-8 character.
std::string_view cut_utf8(std::string_view bytes, std::size_t most);

/// At most `most` bytes from the end, never beginning in the middle of a UTF-8 character.
std::string_view tail_utf8(std::string_view bytes, std::size_t most);

/// For one line of a terminal or log: control characters and bytes that are no UTF-8 become \n, \t
/// or \xNN.
std::string printable(std::string_view bytes);

/// RFC 4648, section 4, with padding.
std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace duly::core
