#include "src/core/clock_skew.h"

#include "src/core/duration.h"

namespace duly::core {

Milliseconds least_skew(SystemTime before, SystemTime after, SystemTime other) {
  if (after < before) return Milliseconds{0};
  if (other < before) return before - other;
  if (other > after) return after - other;
  return Milliseconds{0};
}

std::string skew_warning(Milliseconds skew) {
  const bool is_ahead = skew > Milliseconds{0};
  // To the second: the rest is on the way.
  const auto seconds = std::chrono::floor<std::chrono::seconds>(is_ahead ? skew : -skew);
  return "clock: this machine's is " + format_duration(seconds) +
         (is_ahead ? " ahead of" : " behind") +
         " Redis's, expected at most 2s; delays hold, but absolute times mean Redis's clock";
}

}  // namespace duly::core
