#include "src/core/check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "src/core/duration.h"
#include "src/core/in_quotes.h"
#include "src/core/time_text.h"

namespace duly::core {
namespace {

Error invalid(const std::string& message) { return {ErrorCode::invalid_argument, message}; }

bool is_graph(char c) { return c >= 0x21 && c <= 0x7E; }

bool is_token_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool is_queue_character(char c) { return is_token_character(c) || c == ':'; }

std::string bytes_text(std::size_t count) { return std::to_string(count) + " bytes"; }

/// The shortest text that reads back as `number`; "nan" and "inf" too.
std::string number_text(double number) {
  const double size = std::abs(number);
  const bool is_plain = size == 0.0 || (size >= 0.0001 && size < 1e9);
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 is_plain ? std::chars_format::fixed : std::chars_format::general)
                       .ptr;
  return {text.data(), end};
}

/// Refuses what is not `least` .. `most`; `bounds` says that in words.
std::optional<Error> check_range(std::string_view object, Milliseconds value, Milliseconds least,
                                 Milliseconds most, const std::string& bounds) {
  if (value >= least && value <= most) return std::nullopt;
  return invalid(std::string(object) + ": " + std::to_string(value.count()) + " ms, expected " +
                 bounds);
}

std::optional<Error> check_range(std::string_view object, Milliseconds value, Milliseconds least,
                                 Milliseconds most) {
  if (value >= least && value <= most) return std::nullopt;  // Before texts are made.
  const std::string low = least == Milliseconds{0} ? "0" : format_duration(least);
  return check_range(object, value, least, most, low + " .. " + format_duration(most));
}

/// NaN is in no range, so it is refused as well.
std::optional<Error> check_number(std::string_view object, double value, double least,
                                  double most) {
  if (value >= least && value <= most) return std::nullopt;
  return invalid(std::string(object) + ": " + number_text(value) + ", expected " +
                 number_text(least) + " .. " + number_text(most));
}

std::optional<Error> check_wait(std::string_view object, Milliseconds wait) {
  static_assert(Limits::delay == std::chrono::years{100});
  return check_range(object, wait, Milliseconds{0}, Limits::delay, "0 .. 100 years");
}

std::optional<Error> check_type(std::string_view type) {
  static const std::string rule =
      "expected 0 .. " + std::to_string(Limits::type) + " bytes of printable ASCII without blanks";
  if (type.size() > Limits::type) return invalid("type: " + bytes_text(type.size()) + ", " + rule);
  if (std::all_of(type.begin(), type.end(), is_graph)) return std::nullopt;
  return invalid("type: " + in_quotes(type) + ", " + rule);
}

std::optional<Error> check_attempts(std::uint32_t max_attempts) {
  if (max_attempts >= 1 && max_attempts <= Limits::max_attempts) return std::nullopt;
  return invalid("max attempts: " + std::to_string(max_attempts) + ", expected 1 .. " +
                 std::to_string(Limits::max_attempts));
}

}  // namespace

std::optional<Error> check_queue(const QueueName& queue) {
  constexpr std::size_t most = 128;
  static const std::string rule = ", expected 1 .. 128 characters of A-Z a-z 0-9 . _ - :";
  const std::string& name = queue.text();
  if (name.empty()) return invalid("queue: empty" + rule);
  if (name.size() > most) return invalid("queue: " + bytes_text(name.size()) + rule);
  if (std::all_of(name.begin(), name.end(), is_queue_character)) return std::nullopt;
  return invalid("queue: " + in_quotes(name) + rule);
}

std::optional<Error> check_id(const JobId& id) {
  static const std::string rule =
      ", expected 1 .. " + std::to_string(Limits::id) + " bytes of printable ASCII without blanks";
  const std::string& text = id.text();
  if (text.empty()) return invalid("id: empty" + rule);
  if (text.size() > Limits::id) return invalid("id: " + bytes_text(text.size()) + rule);
  if (std::all_of(text.begin(), text.end(), is_graph)) return std::nullopt;
  return invalid("id: " + in_quotes(text) + rule);
}

std::optional<Error> check_token(const LeaseToken& token) {
  constexpr std::size_t most = 64;
  static const std::string rule = ", expected 1 .. 64 characters of A-Z a-z 0-9 . _ -";
  const std::string& text = token.text();
  if (text.empty()) return invalid("token: empty" + rule);
  if (text.size() > most) return invalid("token: " + bytes_text(text.size()) + rule);
  if (std::all_of(text.begin(), text.end(), is_token_character)) return std::nullopt;
  return invalid("token: a character that no token has" + rule);  // A proof: never shown.
}

std::optional<Error> check_job(const NewJob& job, std::size_t payload_limit) {
  if (auto error = check_type(job.type)) return error;
  if (auto error = check_payload(job.payload, payload_limit)) return error;
  if (auto error = check_delay(job.delay)) return error;
  if (job.due_at) {
    if (job.delay != Milliseconds{0}) {
      return invalid("due_at: given beside a delay, expected one of the two");
    }
    if (auto error = check_due_at(*job.due_at)) return error;
  }
  if (job.id) {
    if (auto error = check_id(*job.id)) return error;
  }
  if (job.lease != Milliseconds{0}) {
    if (auto error = check_lease(job.lease)) return error;
  }
  if (auto error = check_range("timeout", job.timeout, Milliseconds{1}, Limits::timeout)) {
    return error;
  }
  if (auto error = check_attempts(job.max_attempts)) return error;
  if (job.priority > Limits::priority) {
    return invalid("priority: " + std::to_string(job.priority) + ", expected 0 .. " +
                   std::to_string(Limits::priority));
  }
  return check_backoff(job.backoff);
}

std::optional<Error> check_payload(std::string_view payload, std::size_t payload_limit) {
  if (payload.size() <= payload_limit) return std::nullopt;
  return invalid("payload: " + bytes_text(payload.size()) + ", expected 0 .. " +
                 std::to_string(payload_limit));
}

std::optional<Error> check_result(std::string_view result) {
  if (result.size() <= Limits::result) return std::nullopt;
  return invalid("result: " + bytes_text(result.size()) + ", expected 0 .. " +
                 std::to_string(Limits::result));
}

std::optional<Error> check_limits(const QueueLimits& limits) {
  // What a double holds exactly, as Redis counts in these.
  constexpr std::uint64_t kMost = 9'007'199'254'740'991;
  const auto outside = [](std::string_view name, std::uint64_t value, int least) {
    return invalid(std::string(name) + ": " + std::to_string(value) + ", expected " +
                   std::to_string(least) + " .. " + std::to_string(kMost));
  };
  if (limits.length > kMost) return outside("length", limits.length, 0);
  const std::array counts{
      std::pair{"dead count", limits.dead_count}, std::pair{"dead bytes", limits.dead_bytes},
      std::pair{"done count", limits.done_count}, std::pair{"done bytes", limits.done_bytes}};
  for (const auto& [name, value] : counts) {
    if (value < 1 || value > kMost) return outside(name, value, 1);
  }
  if (auto error = check_wait("dead age", limits.dead_age)) return error;
  return check_wait("done age", limits.done_age);
}

std::optional<Error> check_lease(Milliseconds lease) {
  return check_range("lease", lease, Limits::lease_least, Limits::lease);
}

std::optional<Error> check_delay(Milliseconds delay) { return check_wait("delay", delay); }

std::optional<Error> check_due_at(SystemTime due_at) {
  static const std::string bounds =
      format_time(SystemTime{}) + " .. " + format_time(Limits::last_due_at);
  return check_range("due_at", due_at.time_since_epoch(), Milliseconds{0},
                     Limits::last_due_at.time_since_epoch(), bounds);
}

std::optional<Error> check_backoff(const Backoff& backoff) {
  if (auto error = check_range("backoff base", backoff.base, Milliseconds{0}, Limits::backoff)) {
    return error;
  }
  if (auto error = check_range("backoff cap", backoff.cap, Milliseconds{0}, Limits::backoff)) {
    return error;
  }
  // A fixed backoff never looks at its cap, so a base above the default cap is fine there.
  if (backoff.kind == Backoff::Kind::exponential && backoff.cap != Milliseconds{0} &&
      backoff.cap < backoff.base) {
    return invalid("backoff cap: " + std::to_string(backoff.cap.count()) +
                   " ms, expected at least the base, " + std::to_string(backoff.base.count()) +
                   " ms, or 0 for none");
  }
  if (auto error = check_number("backoff factor", backoff.factor, 1.0, Limits::backoff_factor)) {
    return error;
  }
  return check_number("backoff jitter", backoff.jitter, 0.0, 1.0);
}

std::optional<Error> check_failure(const Failure& failure) {
  if (!failure.retry_in) return std::nullopt;
  return check_wait("retry_in", *failure.retry_in);
}

void require(const std::optional<Error>& error) {
  if (error) throw Error(*error);
}

}  // namespace duly::core
