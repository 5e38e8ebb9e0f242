#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "duly/worker.h"
#include "src/cli/lateness.h"

namespace duly::cli {

/// What `duly work` logs: each attempt that ended; on a terminal, how it goes; at the end a
/// summary.
class WorkLog {
 public:
  /// For WorkerOptions::on_finished.
  void finished(const WorkerOptions::Report& report);

  /// On a terminal: a line after 2 s, then every 10 s if something has changed, as long as the
  /// thread lives; which must not be longer than the worker.
  [[nodiscard]] std::jthread watch(const Worker& worker);

  void summary(const WorkerStats& stats);

 private:
  void tell(const WorkerStats& stats) const;

  std::chrono::steady_clock::time_point begun_at_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // of late_
  Distribution late_{};
  std::mutex pause_mutex_;
  std::condition_variable_any pause_;
};

}  // namespace duly::cli
