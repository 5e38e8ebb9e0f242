#pragma once

#include <string>
#include <string_view>

#include "duly/types.h"

namespace duly::core {

/// A length of time as people write it: "90s", "30m", "1h30m", "7d", "250ms", "1.5h"; "0".
///
/// Shape   one or more of number+unit, units d h m s ms, each at most once, from large to small;
/// only the last
///         number may have a fraction; no sign, no blanks; a bare number other than 0 is refused.
/// Errors  invalid_argument: not of this form, not whole milliseconds, or over Limits::delay.
Milliseconds parse_duration(std::string_view text);

/// The shortest exact text that parse_duration reads back: "1h30m", "250ms", "0s".
std::string format_duration(Milliseconds duration);

}  // namespace duly::core
