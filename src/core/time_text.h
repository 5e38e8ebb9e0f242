#pragma once

#include <string>
#include <string_view>

#include "duly/types.h"

namespace duly::core {

/// A point in time as people write it: RFC 3339 ("2026-12-24T18:00:00+01:00", "...Z", a fraction of
/// up to 3 digits, a blank or t for T), or epoch seconds ("1798135200", "1798135200.250").
///
/// Errors  invalid_argument: not of this form, no such date, before 1970 or after the year 9999.
/// Source  RFC 3339; a leap second (:60) is read as the second that follows.
SystemTime parse_time(std::string_view text);

/// RFC 3339 in UTC with milliseconds: "2026-12-24T17:00:00.000Z".
std::string format_time(SystemTime time);

}  // namespace duly::core
