#include "src/core/backoff.h"

#include <algorithm>
#include <cmath>

namespace duly::core {
namespace {

/// In doubles and in the same order as record.backoff_ms in src/lua/record.lua, so that both give
/// the same millisecond. A power too large becomes infinity, and the cap takes over.
double wait_ms(const Backoff& backoff, std::uint64_t failures) {
  const auto base = static_cast<double>(backoff.base.count());
  if (backoff.kind == Backoff::Kind::fixed || failures <= 1 || backoff.base <= Milliseconds{0}) {
    return base;
  }
  const Milliseconds cap = backoff.cap == Milliseconds{0} ? Limits::backoff : backoff.cap;
  const double factor = std::round(backoff.factor * 1000.0) / 1000.0;  // As the record keeps it.
  const double grown = base * std::pow(factor, static_cast<double>(failures - 1));
  return std::min(static_cast<double>(cap.count()), grown);
}

}  // namespace

Milliseconds backoff_delay(const Backoff& backoff, std::uint64_t failures, double random) {
  const double wait = wait_ms(backoff, failures);
  const double percent = std::round(backoff.jitter * 100.0);  // As the record keeps it.
  return Milliseconds{static_cast<std::int64_t>(wait + wait * percent / 100.0 * random)};
}

}  // namespace duly::core
