#include "src/core/dead_letters.h"

#include <utility>

namespace duly::core {

std::optional<std::string> DeadLetterWatch::look(const QueueStats& stats) {
  const std::string queue = "queue " + stats.queue.text() + ": ";
  const std::uint64_t dropped = stats.totals.dead_dropped;
  const std::uint64_t before = std::exchange(dropped_, dropped).value_or(dropped);
  const bool was_full = std::exchange(is_full_, stats.dead_percent >= kManyDeadLetters);
  const bool was_stopped = std::exchange(is_stopped_, stats.is_stopped);
  if (stats.is_stopped && !was_stopped) {
    return queue + "claims stand still, as dead letters are at their limit; replay or purge some";
  }
  if (dropped > before) {
    return queue + std::to_string(dropped - before) +
           " dead letters dropped, the oldest, as they are at their limit; see `duly limits`";
  }
  if (is_full_ && !was_full && !is_stopped_) {
    return queue + "dead letters at " + std::to_string(stats.dead_percent) +
           "% of their limit, expected below " + std::to_string(kManyDeadLetters) +
           "%; replay or purge some, or see `duly limits`";
  }
  return std::nullopt;
}

}  // namespace duly::core
