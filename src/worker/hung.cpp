#include "src/worker/hung.h"

#include <algorithm>
#include <string>
#include <utility>

namespace duly {
namespace {

// A handler hangs when it goes on for as long as its timeout once more, or for so long at the most:
// `duly work` kills a command 2 s after it was asked to stop.
constexpr std::chrono::milliseconds kPatience{3000};
// As many handlers as run at once are replaced, and no fewer than this: their threads cost little,
// but no bound at all would hide the fault until memory is used up.
constexpr std::size_t kLeastReplaced = 16;

bool is_running(const Task& task) {
  return task.started_at.load() != SteadyTime::max() && task.ended_at.load() == SteadyTime::max();
}

}  // namespace

HungHandlers::HungHandlers(std::shared_ptr<Connection::Shared> shared, std::size_t concurrency,
                           Hooks hooks)
    : shared_(std::move(shared)),
      concurrency_(concurrency),
      most_replaced_(std::max(concurrency, kLeastReplaced)),
      hooks_(std::move(hooks)),
      timer_(shared_->io.make_timer()) {}

HungHandlers::~HungHandlers() = default;

void HungHandlers::watch(TaskPtr task) {
  if (is_stopped_) return;
  watched_.push_back({std::move(task), std::chrono::steady_clock::now()});
  look();
}

void HungHandlers::look() {
  const SteadyTime now = std::chrono::steady_clock::now();
  SteadyTime next = SteadyTime::max();
  std::size_t found = 0;
  std::erase_if(watched_, [&](const Watched& watched) {
    const Task& task = *watched.task;
    if (!is_running(task)) return true;
    // A lost lease may come long before the timeout.
    const SteadyTime hangs_at =
        std::max(watched.asked_at, task.timeout_at.load()) + std::min(kPatience, task.job.timeout);
    if (hangs_at > now) {
      next = std::min(next, hangs_at);
      return false;
    }
    hung_.push_back(watched.task);
    ++found;
    shared_->log(LogLevel::warning, "queue " + task.job.queue.text() + ": handler of job " +
                                        task.job.id.text() + ", type '" + task.job.type +
                                        "', hangs: it was asked to stop and goes on");
    return true;
  });
  if (next != SteadyTime::max()) {
    timer_->arm(next, [this] { look(); });
  }
  if (found > 0) settle();
}

void HungHandlers::ended(const Task& task) {
  if (watched_.empty() && hung_.empty()) return;
  const auto is_it = [&](const TaskPtr& other) { return other.get() == &task; };
  std::erase_if(watched_, [&](const Watched& watched) { return is_it(watched.task); });
  if (std::erase_if(hung_, is_it) == 0) return;
  if (task.seat == Task::Seat::replaced) --replaced_;
  settle();
}

// Replaces what may be replaced, and tells what is left.
void HungHandlers::settle() {
  std::size_t lost = 0;
  for (const TaskPtr& task : hung_) {
    if (task->seat == Task::Seat::taken && !replace(task)) ++lost;
  }
  hooks_.on_change(hung_.size(), lost);
  if (lost != lost_) say(lost);
}

bool HungHandlers::replace(const TaskPtr& task) {
  if (is_stopped_ || replaced_ == most_replaced_) return false;
  if (spare_threads_ == 0) {
    if (!hooks_.add_thread()) return false;
    ++spare_threads_;
  }
  if (!task->leave_seat(Task::Seat::replaced)) return true;  // It came back after all.
  --spare_threads_;
  ++replaced_;
  hooks_.on_replaced(task);
  return true;
}

void HungHandlers::say(std::size_t lost) {
  lost_ = lost;
  if (lost == 0) {
    return shared_->log(LogLevel::info, "worker: no longer degraded, all slots are back");
  }
  shared_->log(LogLevel::error, "worker: degraded, " + std::to_string(hung_.size()) +
                                    " handlers hang and " + std::to_string(lost) + " of " +
                                    std::to_string(concurrency_) +
                                    " slots are lost; mend the handlers and restart");
}

void HungHandlers::stop() {
  is_stopped_ = true;
  timer_->cancel();
  watched_.clear();
}

}  // namespace duly
