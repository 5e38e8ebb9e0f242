#include <algorithm>
#include <utility>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/worker/impl.h"

// The part of a worker that runs on the threads of its handlers.
namespace duly {

using std::chrono::steady_clock;

namespace {

// What a handler sees.
class HandlerAttempt final : public Attempt {
 public:
  HandlerAttempt(TaskPtr task, std::function<void()> on_moved)
      : task_(std::move(task)), on_moved_(std::move(on_moved)) {}
  [[nodiscard]] const ActiveJob& job() const override { return task_->job; }
  [[nodiscard]] std::stop_token stop_token() const override { return task_->stop.get_token(); }
  [[nodiscard]] bool is_cancelled() const override { return task_->is_cancelled; }
  void extend(Milliseconds timeout) override {
    if (timeout < Milliseconds{1} || timeout > Limits::timeout) {
      throw Error(ErrorCode::invalid_argument, "timeout: " + std::to_string(timeout.count()) +
                                                   " ms, expected 1 .. " +
                                                   std::to_string(Limits::timeout.count()) + " ms");
    }
    task_->timeout_at = steady_clock::now() + timeout;
    on_moved_();
  }

  void set_result(std::string result) override {
    core::require(core::check_result(result));
    task_->result = std::move(result);
  }

 private:
  TaskPtr task_;
  std::function<void()> on_moved_;
};

}  // namespace

bool Worker::Impl::run_task(const TaskPtr& task) {
  if (task->fate != Task::Fate::open) {  // Its lease was lost while it waited here.
    task->leave_seat(Task::Seat::left);
    hand_in({.task = task});
    return true;
  }
  const SteadyTime now = steady_clock::now();
  const auto redis_now = task->claimed_at_redis.time_since_epoch() + (now - task->claimed_at);
  task->lateness = redis_now - task->job.due_at.time_since_epoch();
  task->timeout_at = now + task->job.timeout;
  task->started_at = now;
  ++counters.running;
  TaskEnd end = run_handler(task);
  --counters.running;
  task->ended_at = steady_clock::now();
  const bool goes_on = task->leave_seat(Task::Seat::left);
  hand_in(std::move(end));
  return goes_on;
}

TaskEnd Worker::Impl::run_handler(const TaskPtr& task) {
  TaskEnd end{.task = task};
  const auto fail = [&](std::string error) {
    end.is_acked = false;
    end.failure.error = std::string(core::cut_utf8(error, Limits::error));
  };
  auto handler = handlers.find(task->job.type);
  if (handler == handlers.end()) handler = handlers.find("");
  if (handler == handlers.end()) {
    fail("no handler for type " + task->job.type);
    return end;
  }
  HandlerAttempt attempt(task, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->shared->io.post([weak] {
        const auto still = weak.lock();
        if (still && still->leases) still->leases->look();
      });
    }
  });
  try {
    handler->second(attempt);
  } catch (const RetryAfter& retry) {
    fail(retry.why.empty() ? "retry asked for" : retry.why);
    end.failure.retry_in = std::clamp(retry.delay, Milliseconds{0}, Limits::delay);
  } catch (const GiveUp& give_up) {
    fail(give_up.why.empty() ? "given up" : give_up.why);
    end.failure.then = Failure::Then::give_up;
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("an exception that is no std::exception");
  }
  return end;
}

void Worker::Impl::hand_in(TaskEnd end) {
  const std::lock_guard lock(mutex);
  ended.push_back(std::move(end));
  if (std::exchange(is_drain_posted, true)) return;
  shared->io.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->drain_ended();
  });
}

}  // namespace duly
