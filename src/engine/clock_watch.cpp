#include "src/engine/clock_watch.h"

#include <optional>

#include "src/core/clock_skew.h"

namespace duly {
namespace {

// Redis's clock where the reply tells it: {'batch', now_ms, ...} and {'jobs', now_us, ...}.
std::optional<SystemTime> time_in(const redis::Reply& reply) {
  if (reply.items.size() < 3 || reply.items[1].kind != redis::Reply::Kind::integer) return {};
  const std::int64_t now = reply.items[1].integer;
  if (reply.items[0].text == "batch") return SystemTime{Milliseconds{now}};
  // A claim's reply is five items long or more, that of find three.
  if (reply.items[0].text == "jobs" && reply.items.size() >= 5) {
    return std::chrono::floor<Milliseconds>(
        std::chrono::sys_time<std::chrono::microseconds>{std::chrono::microseconds{now}});
  }
  return {};
}

}  // namespace

void ClockWatch::look(SystemTime before, const redis::Reply& reply) {
  if (!warn_ || has_warned_.load(std::memory_order_relaxed)) return;
  const auto redis_now = time_in(reply);
  if (!redis_now) return;
  const Milliseconds skew = core::least_skew(before, now(), *redis_now);
  if (std::chrono::abs(skew) <= core::kMostSkew || has_warned_.exchange(true)) return;
  warn_(core::skew_warning(skew));
}

}  // namespace duly
