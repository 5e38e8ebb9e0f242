#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "duly/worker.h"
#include "src/worker/task.h"

namespace duly {

/// Calls the user's on_finished from a thread of its own: neither handlers nor Redis wait for it.
class Reporter {
 public:
  explicit Reporter(std::function<void(const WorkerOptions::Report&)> on_finished);
  ~Reporter() { end(); }
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  void add(TaskPtr task, LeaseOutcome outcome, std::string error);
  /// Reports what it has; waits for that, and takes no more.
  void end();

 private:
  struct Entry {
    TaskPtr task;
    LeaseOutcome outcome;
    std::string error;
    std::chrono::nanoseconds run_time;
  };
  void work();

  std::function<void(const WorkerOptions::Report&)> on_finished_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> entries_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace duly
