#include "src/core/id.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace duly::core {
namespace {

constexpr std::string_view kBase62 =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kBase64 =
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kBase36 = "0123456789abcdefghijklmnopqrstuvwxyz";

constexpr std::uint64_t power(std::uint64_t base, int exponent) {
  return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

// The random part of an id: 2 and 10 characters of base 62, in two numbers.
constexpr int kHighDigits = 2;
constexpr int kLowDigits = 10;
constexpr std::uint64_t kHighEnd = power(62, kHighDigits);
constexpr std::uint64_t kLowEnd = power(62, kLowDigits);
// The random part of a token.
constexpr std::uint64_t kTokenEnd = std::uint64_t{1} << 48;

/// The lowest `digits` digits of `value`, the highest first.
void append_digits(std::string& out, std::uint64_t value, int digits, std::string_view alphabet) {
  const std::size_t first = out.size();
  out.resize(first + static_cast<std::size_t>(digits));
  for (int i = digits - 1; i >= 0; --i) {
    out[first + static_cast<std::size_t>(i)] = alphabet[value % alphabet.size()];
    value /= alphabet.size();
  }
}

std::mt19937_64 seeded_by_the_system() {
  std::random_device device;
  std::array<std::uint32_t, 8> words{};
  for (std::uint32_t& word : words) word = device();
  std::seed_seq seed(words.begin(), words.end());
  return std::mt19937_64(seed);
}

}  // namespace

IdSource::IdSource()
    : IdSource([] { return std::chrono::floor<Milliseconds>(std::chrono::system_clock::now()); }) {}

IdSource::IdSource(std::function<SystemTime()> now)
    : now_(std::move(now)), random_(seeded_by_the_system()) {
  renew(last_ms_);  // Random also where the clock stands at or before 1970.
}

bool IdSource::begin_millisecond() {
  const std::int64_t now_ms = now_().time_since_epoch().count();
  if (now_ms <= last_ms_) return false;
  renew(now_ms);
  return true;
}

void IdSource::renew(std::int64_t at_ms) {
  last_ms_ = at_ms;
  low_ = random_() % kLowEnd;
  high_ = random_() % kHighEnd;
  token_ = random_() % kTokenEnd;
}

JobId IdSource::job_id() {
  const std::lock_guard lock(mutex_);
  // Counting past the end borrows the next millisecond: the order holds, and the clock catches up.
  if (!begin_millisecond() && ++low_ == kLowEnd) {
    low_ = 0;
    if (++high_ == kHighEnd) renew(last_ms_ + 1);
  }
  std::string text;
  text.reserve(20);
  append_digits(text, static_cast<std::uint64_t>(last_ms_), 8, kBase62);
  append_digits(text, high_, kHighDigits, kBase62);
  append_digits(text, low_, kLowDigits, kBase62);
  return JobId(std::move(text));
}

LeaseToken IdSource::token() {
  const std::lock_guard lock(mutex_);
  // A random step: one token does not give the next one away.
  if (!begin_millisecond()) {
    token_ += 1 + (random_() & 0xFFFF);
    if (token_ >= kTokenEnd) renew(last_ms_ + 1);
  }
  std::string text;
  text.reserve(15);
  append_digits(text, static_cast<std::uint64_t>(last_ms_), 7, kBase64);
  append_digits(text, token_, 8, kBase64);
  return LeaseToken(std::move(text));
}

std::string IdSource::process_name() {
  const std::lock_guard lock(mutex_);
  std::uniform_int_distribution<std::size_t> pick(0, kBase36.size() - 1);
  std::string text(12, '0');
  std::generate(text.begin(), text.end(), [&] { return kBase36[pick(random_)]; });
  return text;
}

}  // namespace duly::core
