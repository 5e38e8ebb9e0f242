#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <random>

#include "duly/types.h"

namespace duly::core {

/// Makes ids and tokens that sort by creation time, also within one millisecond. Any thread.
class IdSource {
 public:
  IdSource();  ///< Seeded by the system, on the system's clock.
  explicit IdSource(std::function<SystemTime()> now);  ///< On another clock; it may step back.

  /// 20 characters of base 62 in ASCII order (0-9 A-Z a-z): 8 of milliseconds (to the year 8889),
  /// then 12, or 71 bits, random, that count up within a millisecond. Shorter than a ULID's 26:
  /// less to send with each call.
  JobId job_id();

  /// 15 characters of an alphabet in ASCII order (- 0-9 A-Z _ a-z): 42 bits of milliseconds, 48
  /// random ones.
  LeaseToken token();

  /// 12 random characters of 0-9 a-z, to name this process.
  std::string process_name();

 private:
  /// Whether the clock has moved on; then the random bits are fresh.
  bool begin_millisecond();
  void renew(std::int64_t at_ms);

  std::function<SystemTime()> now_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::int64_t last_ms_ = 0;
  std::uint64_t low_ = 0;    // the random part of the last id: its lower 10 characters ...
  std::uint64_t high_ = 0;   // ... and the upper 2.
  std::uint64_t token_ = 0;  // the random part of the last token
};

}  // namespace duly::core
