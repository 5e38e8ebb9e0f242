#pragma once

#include <optional>
#include <string>

#include "duly/types.h"

namespace duly::cli {

/// About how long: the two largest units, "1d 2h", "5m 30s", "12s", "250ms".
std::string about(Milliseconds duration);

/// "in 1h 30m" or "3s ago" as this machine's clock sees it; "now" within a millisecond.
std::string from_now(SystemTime time);

/// Both: "in 1h 30m (2026-12-24T17:00:00.000Z)".
std::string due_text(SystemTime time);

/// Milliseconds since 1970 for JSON.
std::int64_t to_ms(SystemTime time);

}  // namespace duly::cli
