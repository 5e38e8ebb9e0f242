#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "duly/connection.h"
#include "src/cli/output.h"

namespace duly::cli {

/// The form of log lines on stderr. `text`, for people: time in UTC, level, text. `json`: one
/// object a line with `time`, `level`, `event` and the event's fields.
enum class LogForm { text, json };

/// Errors  invalid_argument: neither text nor json.
LogForm parse_log_form(const std::string& word);

void set_up_logging(LogForm form);
[[nodiscard]] LogForm log_form();

/// Logs what happened: in text as `text`, in JSON as its name and fields. Bytes that are no UTF-8
/// are made printable, or replaced.
void log_event(LogLevel level, std::string_view event, const Json& fields, std::string_view text);

/// Where a connection's notices go: the log, from `least` on.
std::function<void(LogLevel, const std::string&)> connection_log(LogLevel least);

/// A word to people beside the output, "duly: ..." on stderr; in JSON a log line like all else
/// there.
void notice(std::string_view text);

}  // namespace duly::cli
