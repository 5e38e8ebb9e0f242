#pragma once

#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "duly/job.h"
#include "src/cli/demo/worker.h"
#include "src/cli/output.h"

namespace duly::cli::demo {

/// One figure of the end: what was found, what was expected, and whether they agree.
struct Figure {
  std::string key;   ///< In JSON.
  std::string name;  ///< In the table.
  Json value;
  std::string text;
  std::string expected;
  bool is_met = true;
};

/// Counts what the workers tell. Any thread.
class Tally {
 public:
  void add(const Line& line);
  /// The jobs that a worker has begun and not ended.
  [[nodiscard]] std::set<std::string> held_by(const std::string& worker) const;
  /// What a worker held when it was killed.
  void set_held_at_kill(std::set<std::string> ids);
  [[nodiscard]] std::size_t ended() const;

  /// All figures. `jobs` were put; `stats` is what Redis says at the end.
  [[nodiscard]] std::vector<Figure> figures(const std::vector<NewJob>& jobs,
                                            const QueueStats& stats) const;

 private:
  mutable std::mutex mutex_;
  std::vector<Line> starts_;
  std::vector<Line> ends_;
  std::set<std::string> held_at_kill_;
};

}  // namespace duly::cli::demo
