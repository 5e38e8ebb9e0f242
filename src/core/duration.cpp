#include "src/core/duration.h"

#include <array>
#include <cstdint>
#include <string>

#include "duly/error.h"
#include "duly/job.h"
#include "src/core/in_quotes.h"

namespace duly::core {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

constexpr std::array kUnits{Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000},
                            Unit{"s", 1'000}, Unit{"ms", 1}};

constexpr std::int64_t kMost = Limits::delay.count();

// A unit divides by 10 at most 10 times (a day is 2^10 * 3^3 * 5^5 ms): more digits are no whole
// ms.
constexpr std::size_t kMostDecimals = 10;

[[noreturn]] void refuse(std::string_view text, std::string_view expected) {
  throw Error(ErrorCode::invalid_argument,
              "duration: " + in_quotes(text) + ", expected " + std::string(expected));
}

[[noreturn]] void refuse_form(std::string_view text) {
  refuse(text, "a length of time such as 90s, 1h30m, 1.5h or 250ms");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes what `belongs` accepts from the front of `rest`.
template <class Belongs>
std::string_view take(std::string_view& rest, Belongs belongs) {
  std::size_t size = 0;
  while (size < rest.size() && belongs(rest[size])) ++size;
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return taken;
}

/// One number and its unit.
class Part {
 public:
  Part(std::string_view text, std::string_view& rest) : text_(text) {
    whole_ = take(rest, is_digit);
    if (whole_.empty()) refuse_form(text_);
    if (!rest.empty() && rest.front() == '.') {
      rest.remove_prefix(1);
      decimals_ = take(rest, is_digit);
      if (decimals_.empty()) refuse_form(text_);
      has_fraction_ = true;
    }
    const std::string_view name = take(rest, [](char c) { return !is_digit(c) && c != '.'; });
    while (unit_ < kUnits.size() && kUnits[unit_].name != name) ++unit_;
    if (unit_ == kUnits.size()) refuse_form(text_);
  }

  /// Where the unit stands in kUnits.
  [[nodiscard]] std::size_t unit() const { return unit_; }
  [[nodiscard]] bool has_fraction() const { return has_fraction_; }

  [[nodiscard]] std::int64_t ms() const {
    const std::int64_t unit_ms = kUnits[unit_].ms;
    std::int64_t whole = 0;
    for (const char c : whole_) {
      whole = whole * 10 + (c - '0');
      if (whole > kMost / unit_ms) refuse(text_, "at most 100 years");
    }
    return whole * unit_ms + fraction_ms(unit_ms);
  }

 private:
  [[nodiscard]] std::int64_t fraction_ms(std::int64_t unit_ms) const {
    std::string_view decimals = decimals_;
    while (!decimals.empty() && decimals.back() == '0') decimals.remove_suffix(1);
    if (decimals.size() > kMostDecimals) refuse(text_, "whole milliseconds");
    std::int64_t value = 0;
    std::int64_t scale = 1;
    for (const char c : decimals) {
      value = value * 10 + (c - '0');
      scale *= 10;
    }
    if (value * unit_ms % scale != 0) refuse(text_, "whole milliseconds");
    return value * unit_ms / scale;
  }

  std::string_view text_;
  std::string_view whole_;
  std::string_view decimals_;
  bool has_fraction_ = false;
  std::size_t unit_ = 0;
};

}  // namespace

Milliseconds parse_duration(std::string_view text) {
  static_assert(Limits::delay == std::chrono::years{100});
  if (text == "0") return Milliseconds{0};
  if (text.empty()) refuse_form(text);

  std::int64_t total_ms = 0;
  std::size_t next_unit = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const Part part(text, rest);
    if (part.unit() < next_unit) refuse(text, "each unit once, from large to small: d h m s ms");
    if (part.has_fraction() && !rest.empty()) refuse(text, "a fraction in the last number only");
    next_unit = part.unit() + 1;
    total_ms += part.ms();  // At most five times kMost: far from the end of the type.
  }
  if (total_ms > kMost) refuse(text, "at most 100 years");
  return Milliseconds{total_ms};
}

std::string format_duration(Milliseconds duration) {
  if (duration == Milliseconds{0}) return "0s";
  std::string text;
  // Unsigned, so that the smallest value has an absolute value too.
  auto left = static_cast<std::uint64_t>(duration.count());
  if (duration < Milliseconds{0}) {
    text = "-";
    left = 0 - left;
  }
  for (const Unit& unit : kUnits) {
    const auto unit_ms = static_cast<std::uint64_t>(unit.ms);
    if (left >= unit_ms) text += std::to_string(left / unit_ms) + std::string(unit.name);
    left %= unit_ms;
  }
  return text;
}

}  // namespace duly::core
