#include "src/core/id.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace duly::core {
namespace {

constexpr std::string_view kBase32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::string_view kBase64 =
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kBase36 = "0123456789abcdefghijklmnopqrstuvwxyz";

/// The lowest `digits` digits of `value`, the highest first; the alphabet has 2^bits characters.
void append_digits(std::string& out, std::uint64_t value, int digits, int bits,
                   std::string_view alphabet) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  for (int i = digits - 1; i >= 0; --i) out += alphabet[(value >> (i * bits)) & mask];
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
  low_ = random_();
  high_ = static_cast<std::uint16_t>(random_());
}

JobId IdSource::job_id() {
  const std::lock_guard lock(mutex_);
  if (!begin_millisecond()) {
    // Counting past 80 bits borrows the next millisecond: the order holds, and the clock catches
    // up.
    if (++low_ == 0 && ++high_ == 0) renew(last_ms_ + 1);
  }
  std::string text;
  text.reserve(26);
  append_digits(text, static_cast<std::uint64_t>(last_ms_), 10, 5, kBase32);
  append_digits(text, (std::uint64_t{high_} << 24) | (low_ >> 40), 8, 5, kBase32);
  append_digits(text, low_, 8, 5, kBase32);
  return JobId(std::move(text));
}

LeaseToken IdSource::token() {
  const std::lock_guard lock(mutex_);
  // The upper 48 of the 80 bits. They go up by a random step, so that a job id made in the same
  // millisecond does not give the token away.
  if (!begin_millisecond()) {
    const std::uint64_t upper = (std::uint64_t{high_} << 32) | (low_ >> 32);
    const std::uint64_t next = upper + 1 + (random_() & 0xFFFF);
    if (next >> 48 != 0) {
      renew(last_ms_ + 1);
    } else {
      high_ = static_cast<std::uint16_t>(next >> 32);
      low_ = (next << 32) | (low_ & 0xFFFF'FFFF);
    }
  }
  std::string text;
  text.reserve(15);
  append_digits(text, static_cast<std::uint64_t>(last_ms_), 7, 6, kBase64);
  append_digits(text, (std::uint64_t{high_} << 32) | (low_ >> 32), 8, 6, kBase64);
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
