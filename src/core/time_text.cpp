#include "src/core/time_text.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "duly/error.h"
#include "duly/job.h"
#include "src/core/in_quotes.h"

namespace duly::core {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

[[noreturn]] void refuse(std::string_view text, std::string_view expected) {
  throw Error(ErrorCode::invalid_argument,
              "time: " + in_quotes(text) + ", expected " + std::string(expected));
}

[[noreturn]] void refuse_form(std::string_view text) {
  refuse(text, "2026-12-24T18:00:00+01:00, 2026-12-24T17:00:00Z or epoch seconds");
}

SystemTime in_range(std::string_view text, SystemTime time) {
  if (time < SystemTime{} || time > Limits::last_due_at) {
    refuse(text, "a time from 1970-01-01T00:00:00Z to the end of the year 9999");
  }
  return time;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads a text from `begin` on; each step refuses the whole text where it does not fit.
class Reader {
 public:
  explicit Reader(std::string_view text, std::size_t begin = 0)
      : text_(text), rest_(text.substr(begin)) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  int digits(std::size_t count) {
    if (rest_.size() < count) refuse_form(text_);
    int value = 0;
    for (const char c : rest_.substr(0, count)) {
      if (!is_digit(c)) refuse_form(text_);
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }

  char one_of(std::string_view allowed) {
    if (rest_.empty() || allowed.find(rest_.front()) == std::string_view::npos) refuse_form(text_);
    const char found = rest_.front();
    rest_.remove_prefix(1);
    return found;
  }

  /// An optional "." with 1 to 3 digits.
  Milliseconds fraction() {
    if (rest_.empty() || rest_.front() != '.') return Milliseconds{0};
    rest_.remove_prefix(1);
    int value = 0;
    std::size_t count = 0;
    for (; !rest_.empty() && is_digit(rest_.front()); ++count) {
      if (count == 3) refuse(text_, "at most 3 digits of a second");
      value = value * 10 + digits(1);
    }
    if (count == 0) refuse_form(text_);
    for (; count < 3; ++count) value *= 10;
    return Milliseconds{value};
  }

 private:
  std::string_view text_;
  std::string_view rest_;
};

SystemTime parse_epoch(std::string_view text) {
  std::size_t size = 0;
  std::int64_t value = 0;
  const std::int64_t most = floor<seconds>(Limits::last_due_at).time_since_epoch().count();
  for (; size < text.size() && is_digit(text[size]); ++size) {
    value = value * 10 + (text[size] - '0');
    if (value > most) refuse(text, "epoch seconds (not milliseconds), up to the year 9999");
  }
  Reader reader(text, size);
  const Milliseconds fraction = reader.fraction();
  if (!reader.at_end()) refuse_form(text);
  return SystemTime{seconds{value} + fraction};
}

/// "Z", or what the local time is ahead of UTC.
minutes parse_offset(std::string_view text, Reader& reader) {
  const char sign = reader.one_of("Zz+-");
  if (sign == 'Z' || sign == 'z') return minutes{0};
  const int hour = reader.digits(2);
  reader.one_of(":");
  const int minute = reader.digits(2);
  if (hour > 23 || minute > 59) refuse(text, "an offset of -23:59 .. +23:59");
  const minutes offset = hours{hour} + minutes{minute};
  return sign == '-' ? -offset : offset;
}

SystemTime parse_rfc3339(std::string_view text) {
  Reader reader(text);
  const int year = reader.digits(4);
  reader.one_of("-");
  const int month = reader.digits(2);
  reader.one_of("-");
  const int day = reader.digits(2);
  reader.one_of("Tt ");
  const int hour = reader.digits(2);
  reader.one_of(":");
  const int minute = reader.digits(2);
  reader.one_of(":");
  const int second = reader.digits(2);
  const Milliseconds fraction = reader.fraction();
  const minutes offset = parse_offset(text, reader);
  if (!reader.at_end()) refuse_form(text);

  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) refuse(text, "a date that exists");
  if (hour > 23 || minute > 59 || second > 60) refuse(text, "a time of day 00:00:00 .. 23:59:59");
  const auto utc_minute = std::chrono::sys_days{date} + hours{hour} + minutes{minute} - offset;
  if (second == 60 && floor<days>(utc_minute + minutes{1}) == floor<days>(utc_minute)) {
    refuse(text, "a leap second only at the end of a day in UTC");
  }
  return in_range(text, SystemTime{utc_minute + seconds{second} + fraction});
}

void append_number(std::string& out, std::uint64_t value, std::size_t width) {
  const std::string digits = std::to_string(value);
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

}  // namespace

SystemTime parse_time(std::string_view text) {
  if (text.empty()) refuse_form(text);
  const std::size_t digits = text.find_first_not_of("0123456789");
  const bool is_epoch = digits == std::string_view::npos || (digits > 0 && text[digits] == '.');
  return is_epoch ? parse_epoch(text) : parse_rfc3339(text);
}

std::string format_time(SystemTime time) {
  const std::int64_t ms = time.time_since_epoch().count();
  if (time < SystemTime{} || time > Limits::last_due_at) return std::to_string(ms) + "ms";

  const auto day = floor<days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::string text;
  append_number(text, static_cast<std::uint64_t>(static_cast<int>(date.year())), 4);
  text += '-';
  append_number(text, static_cast<unsigned>(date.month()), 2);
  text += '-';
  append_number(text, static_cast<unsigned>(date.day()), 2);
  text += 'T';
  append_number(text, static_cast<std::uint64_t>(clock.hours().count()), 2);
  text += ':';
  append_number(text, static_cast<std::uint64_t>(clock.minutes().count()), 2);
  text += ':';
  append_number(text, static_cast<std::uint64_t>(clock.seconds().count()), 2);
  text += '.';
  append_number(text, static_cast<std::uint64_t>(clock.subseconds().count()), 3);
  return text + 'Z';
}

}  // namespace duly::core
