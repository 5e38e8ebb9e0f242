#include "src/cli/logging.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

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

}  // namespace

void set_up_logging() {
  const auto mode =
      has_colours(Stream::err) ? spdlog::color_mode::automatic : spdlog::color_mode::never;
  auto logger = std::make_shared<spdlog::logger>(
      "duly", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(mode));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
  spdlog::set_default_logger(std::move(logger));
}

std::function<void(LogLevel, const std::string&)> connection_log(LogLevel least) {
  return [least](LogLevel level, const std::string& text) {
    if (level < least) return;
    spdlog::log(level_of(level), "{}", core::printable(text));
  };
}

}  // namespace duly::cli
