#pragma once

#include <functional>
#include <string>

#include "duly/connection.h"

namespace duly::cli {

/// Sets the form of log lines: time in UTC, level, text; on stderr.
void set_up_logging();

/// Where a connection's notices go: the log, from `least` on.
std::function<void(LogLevel, const std::string&)> connection_log(LogLevel least);

}  // namespace duly::cli
