#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "duly/types.h"

namespace duly::testing {

using Microtime = std::chrono::sys_time<std::chrono::microseconds>;

/// Time that moves only when a test says so; begins at 2026-01-01 00:00 UTC. Safe from any thread.
class ManualClock {
 public:
  /// `tell` learns of each new time, before advance() returns.
  explicit ManualClock(std::function<void(Microtime)> tell = {}) : tell_(std::move(tell)) {}

  [[nodiscard]] Microtime now_us() const { return Microtime{std::chrono::microseconds{us_}}; }
  [[nodiscard]] SystemTime now() const { return std::chrono::floor<Milliseconds>(now_us()); }

  void advance(std::chrono::microseconds step) {
    us_ += step.count();
    if (tell_) tell_(now_us());
  }

 private:
  static constexpr Microtime kStart{std::chrono::sys_days{std::chrono::January / 1 / 2026}};

  std::function<void(Microtime)> tell_;
  std::atomic<std::int64_t> us_{kStart.time_since_epoch().count()};
};

}  // namespace duly::testing
