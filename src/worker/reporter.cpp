#include "src/worker/reporter.h"

#include <algorithm>
#include <utility>

namespace duly {

Reporter::Reporter(std::function<void(const WorkerOptions::Report&)> on_finished)
    : on_finished_(std::move(on_finished)) {
  if (on_finished_) thread_ = std::thread([this] { work(); });
}

void Reporter::end() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Reporter::add(TaskPtr task, LeaseOutcome outcome, std::string error) {
  if (!on_finished_) return;
  // A handler that still runs, beyond its timeout or lease, has run until now.
  const SteadyTime ended_at = std::min(task->ended_at.load(), std::chrono::steady_clock::now());
  const auto run_time = ended_at - task->started_at.load();
  const std::lock_guard lock(mutex_);
  if (is_ending_) return;
  entries_.push_back({std::move(task), outcome, std::move(error), run_time});
  wake_.notify_one();
}

void Reporter::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return is_ending_ || !entries_.empty(); });
    if (entries_.empty()) return;
    const Entry entry = std::move(entries_.front());
    entries_.pop_front();
    lock.unlock();
    on_finished_({.job = entry.task->job,
                  .outcome = entry.outcome,
                  .error = entry.error,
                  .lateness = entry.task->lateness,
                  .run_time = entry.run_time});
    lock.lock();
  }
}

}  // namespace duly
