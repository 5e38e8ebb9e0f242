#include "src/cli/due_text.h"

#include <array>
#include <string_view>

#include "src/core/time_text.h"

namespace duly::cli {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

constexpr std::array kUnits{Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000},
                            Unit{"s", 1'000}};

}  // namespace

std::string about(Milliseconds duration) {
  const std::int64_t ms = duration.count();
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (ms < kUnits[i].ms) continue;
    std::string text = std::to_string(ms / kUnits[i].ms) + std::string(kUnits[i].name);
    if (i + 1 < kUnits.size()) {
      const std::int64_t rest = ms % kUnits[i].ms / kUnits[i + 1].ms;
      if (rest > 0) text += " " + std::to_string(rest) + std::string(kUnits[i + 1].name);
    }
    return text;
  }
  return std::to_string(ms) + "ms";
}

std::string from_now(SystemTime time) {
  const auto now = std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  if (time == now) return "now";
  return time > now ? "in " + about(time - now) : about(now - time) + " ago";
}

std::string due_text(SystemTime time) {
  return from_now(time) + " (" + core::format_time(time) + ")";
}

std::int64_t to_ms(SystemTime time) { return time.time_since_epoch().count(); }

}  // namespace duly::cli
