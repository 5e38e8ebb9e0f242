#include "src/worker/reporter.h"

#include <utility>

namespace duly {

Reporter::Reporter(std::function<void(const WorkerOptions::Report&)> on_finished)
    : on_finished_(std::move(on_finished)) {
  if (on_finished_) thread_ = std::thread([this] { work(); });
}

Reporter::~Reporter() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Reporter::add(TaskPtr task, LeaseOutcome outcome, std::string error) {
  if (!on_finished_) return;
  const std::lock_guard lock(mutex_);
  entries_.push_back({std::move(task), outcome, std::move(error)});
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
                  .run_time = entry.task->run_time});
    lock.lock();
  }
}

}  // namespace duly
