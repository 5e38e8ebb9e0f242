#include "src/core/bytes.h"

#include <array>
#include <cstdint>

namespace duly::core {
namespace {

constexpr std::size_t kLongestCharacter = 4;
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

bool is_between(std::uint8_t byte, std::uint8_t least, std::uint8_t most) {
  return byte >= least && byte <= most;
}

/// The length of the UTF-8 character that begins at `at`, or 0 if none does: RFC 3629, section 4.
std::size_t character_at(std::string_view bytes, std::size_t at) {
  const std::uint8_t lead = byte_at(bytes, at);
  if (lead < 0x80) return 1;

  std::size_t length = 0;
  std::uint8_t least = 0x80;  // The second byte's range; narrower where overlong forms, surrogates
  std::uint8_t most = 0xBF;   // and code points above U+10FFFF would begin.
  if (is_between(lead, 0xC2, 0xDF)) {
    length = 2;
  } else if (is_between(lead, 0xE0, 0xEF)) {
    length = 3;
    if (lead == 0xE0) least = 0xA0;
    if (lead == 0xED) most = 0x9F;
  } else if (is_between(lead, 0xF0, 0xF4)) {
    length = 4;
    if (lead == 0xF0) least = 0x90;
    if (lead == 0xF4) most = 0x8F;
  } else {
    return 0;
  }

  if (bytes.size() - at < length) return 0;
  if (!is_between(byte_at(bytes, at + 1), least, most)) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!is_between(byte_at(bytes, at + i), 0x80, 0xBF)) return 0;
  }
  return length;
}

struct Span {
  std::size_t begin;
  std::size_t end;
};

/// The character that `at` would split, or an empty span at `at` if it splits none.
Span split_at(std::string_view bytes, std::size_t at) {
  for (std::size_t back = 1; back < kLongestCharacter && back <= at; ++back) {
    const std::size_t begin = at - back;
    const std::size_t length = character_at(bytes, begin);
    if (length > back) return {begin, begin + length};
    if (length > 0) break;  // A whole character ends at or before `at`.
  }
  return {at, at};
}

void append_escaped(std::string& out, std::uint8_t byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\t') {
    out += "\\t";
  } else {
    out += "\\x";
    out += digits[byte >> 4];
    out += digits[byte & 0x0F];
  }
}

/// C0, DEL, and C1 (U+0080 .. U+009F, as C2 80 .. C2 9F), which terminals obey too.
bool is_control(std::string_view character) {
  const std::uint8_t lead = byte_at(character, 0);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && byte_at(character, 1) < 0xA0;
}

constexpr std::uint8_t kNoDigit = 0xFF;

constexpr std::array<std::uint8_t, 256> base64_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kBase64.size(); ++i) {
    values[static_cast<std::uint8_t>(kBase64[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character_at(bytes, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string_view cut_utf8(std::string_view bytes, std::size_t most) {
  if (bytes.size() <= most) return bytes;
  return bytes.substr(0, split_at(bytes, most).begin);
}

std::string_view tail_utf8(std::string_view bytes, std::size_t most) {
  if (bytes.size() <= most) return bytes;
  return bytes.substr(split_at(bytes, bytes.size() - most).end);
}

std::string printable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character_at(bytes, at);
    const std::string_view piece = bytes.substr(at, length == 0 ? 1 : length);
    if (length > 0 && !is_control(piece)) {
      out += piece;
    } else {
      for (const char c : piece) append_escaped(out, static_cast<std::uint8_t>(c));
    }
    at += piece.size();
  }
  return out;
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t left = bytes.size() - at;
    std::uint32_t bits = std::uint32_t{byte_at(bytes, at)} << 16;
    if (left > 1) bits |= std::uint32_t{byte_at(bytes, at + 1)} << 8;
    if (left > 2) bits |= byte_at(bytes, at + 2);
    out += kBase64[bits >> 18];
    out += kBase64[(bits >> 12) & 63];
    out += left > 1 ? kBase64[(bits >> 6) & 63] : '=';
    out += left > 2 ? kBase64[bits & 63] : '=';
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  static constexpr std::array<std::uint8_t, 256> kValues = base64_values();
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::string_view digits = text.substr(0, text.size() - padding);

  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    const std::uint8_t value = kValues[byte_at(digits, at)];
    if (value == kNoDigit) return std::nullopt;
    bits = ((bits << 6) | value) & 0xFFFF;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> count) & 0xFF);
    }
  }
  // Left-over bits must be 0, so that each value has one text.
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return out;
}

}  // namespace duly::core
