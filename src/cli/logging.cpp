#include "src/cli/logging.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "duly/error.h"
#include "src/cli/terminal.h"
#include "src/core/bytes.h"

namespace duly::cli {
namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      break;
  }
  return spdlog::level::err;
}

// Set once, before there is a second thread.
LogForm current_form = LogForm::text;

}  // namespace

LogForm parse_log_form(const std::string& word) {
  if (word == "text") return LogForm::text;
  if (word == "json") return LogForm::json;
  throw Error(ErrorCode::invalid_argument,
              "log: \"" + core::printable(core::cut_utf8(word, 60)) + "\", expected text or json");
}

void set_up_logging(LogForm form) {
  const auto mode =
      has_colours(Stream::err) ? spdlog::color_mode::automatic : spdlog::color_mode::never;
  auto logger = std::make_shared<spdlog::logger>(
      "duly", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(mode));
  const std::string time = "%Y-%m-%dT%H:%M:%S.%eZ";
  logger->set_pattern(
      form == LogForm::json ? R"({"time":")" + time + R"(","level":"%l",%v})" : time + " %^%l%$ %v",
      spdlog::pattern_time_type::utc);
  spdlog::set_default_logger(std::move(logger));
  current_form = form;
}

LogForm log_form() { return current_form; }

void log_event(LogLevel level, std::string_view event, const Json& fields, std::string_view text) {
  if (current_form == LogForm::text) {
    return spdlog::log(level_of(level), "{}", core::printable(text));
  }
  Json line{{"event", event}};
  line.update(fields);
  const std::string object = to_text(line);  // The pattern brings the braces.
  spdlog::log(level_of(level), "{}", object.substr(1, object.size() - 2));
}

std::function<void(LogLevel, const std::string&)> connection_log(LogLevel least) {
  return [least](LogLevel level, const std::string& text) {
    if (level < least) return;
    log_event(level, "connection", {{"message", text}}, text);
  };
}

void notice(std::string_view text) {
  if (current_form == LogForm::json) {
    return log_event(LogLevel::info, "notice", {{"message", text}}, text);
  }
  std::cerr << "duly: " << text << "\n";
}

}  // namespace duly::cli
