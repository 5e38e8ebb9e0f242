#pragma once

#include <chrono>
#include <string>

#include "duly/types.h"

namespace duly::core {

/// Beyond this a difference between two clocks is worth a warning.
inline constexpr Milliseconds kMostSkew{2'000};

/// How far our clock is ahead of another one at least, negative if it is behind. The other was read
/// between two looks at ours.
///
/// Shape   0 where it may be right, or ours was set back meanwhile.
Milliseconds least_skew(SystemTime before, SystemTime after, SystemTime other);

/// "clock: 5m ahead of Redis's ...": what such a skew means for a user.
std::string skew_warning(Milliseconds skew);

}  // namespace duly::core
