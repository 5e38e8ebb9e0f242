#include "src/worker/leases.h"

#include <algorithm>
#include <utility>

namespace duly {
namespace {

// A heartbeat each third of the lease: two may be lost before the lease is.
constexpr int kBeatsPerLease = 3;

}  // namespace

Leases::Leases(std::shared_ptr<Connection::Shared> shared, Hooks hooks)
    : shared_(std::move(shared)), hooks_(std::move(hooks)), timer_(shared_->io.make_timer()) {}

Leases::~Leases() = default;

void Leases::add(const std::vector<TaskPtr>& tasks) {
  SteadyTime first = SteadyTime::max();
  Lease* last = nullptr;  // most claims have one lease
  for (const TaskPtr& task : tasks) {
    if (last == nullptr || last->tasks.front()->job.token != task->job.token) {
      std::string key = task->job.queue.text() + ' ' + task->job.token.text();
      LeasePtr& lease = leases_[key];
      if (!lease) {
        lease = std::make_shared<Lease>(
            Lease{.key = std::move(key),
                  .queue = task->job.queue,
                  .length = task->job.lease,
                  .renew_at = task->job.token.empty()  // without leases
                                  ? SteadyTime::max()
                                  : task->claimed_at + task->job.lease / kBeatsPerLease,
                  .tasks = {}});
        lease->tasks.reserve(tasks.size());
      }
      last = lease.get();
    }
    task->lease = last;
    last->tasks.push_back(task);
    ++last->open;
    // It cannot have started before it was claimed.
    first = std::min({first, last->renew_at, task->claimed_at + task->job.timeout});
  }
  if (first < armed_for_) arm(first);
}

void Leases::confirm(Task& task) {
  Lease* const lease = std::exchange(task.lease, nullptr);
  if (lease != nullptr && --lease->open == 0) leases_.erase(lease->key);
}

std::vector<TaskPtr> Leases::open_tasks() const {
  std::vector<TaskPtr> open;
  for (const auto& [key, lease] : leases_) {
    for (const TaskPtr& task : lease->tasks) {
      if (task->lease != nullptr) open.push_back(task);
    }
  }
  return open;
}

void Leases::look() {
  const SteadyTime now = std::chrono::steady_clock::now();
  SteadyTime next = SteadyTime::max();
  std::vector<LeasePtr> all;
  all.reserve(leases_.size());
  for (const auto& [key, lease] : leases_) all.push_back(lease);
  for (const LeasePtr& lease : all) next = std::min(next, look_at(lease, now));
  arm(next);
}

SteadyTime Leases::look_at(const LeasePtr& lease, SteadyTime now) {
  std::erase_if(lease->tasks, [](const TaskPtr& task) { return task->lease == nullptr; });
  SteadyTime next = SteadyTime::max();
  const Task* to_keep = nullptr;
  for (const TaskPtr& task : std::vector<TaskPtr>(lease->tasks)) {
    const Task::Fate fate = task->fate;
    if (fate == Task::Fate::lost || fate == Task::Fate::timed_out) continue;
    // What is finished needs its lease until that is written.
    to_keep = task.get();
    if (fate != Task::Fate::open) continue;
    const SteadyTime timeout_at = task->timeout_at;
    if (task->started_at.load() == SteadyTime::max()) {
      next = std::min(next, now + task->job.timeout);
    } else if (timeout_at <= now) {
      if (task->decide(Task::Fate::timed_out)) hooks_.on_timeout(task);
    } else {
      next = std::min(next, timeout_at);
    }
  }
  if (to_keep == nullptr) return next;
  if (lease->renew_at <= now && !lease->is_renewing) renew(lease, *to_keep);
  return std::min(next, lease->renew_at);
}

void Leases::renew(const LeasePtr& lease, const Task& task) {
  lease->is_renewing = true;
  const SteadyTime sent_at = std::chrono::steady_clock::now();
  lease->renew_at = sent_at + lease->length / kBeatsPerLease;
  // A heartbeat that is late is worth nothing: the next one is due by then.
  const Deadline deadline = std::min(shared_->deadline(), sent_at + lease->length);
  shared_->engine->extend(
      lease->queue, {{.held = {task.job.id, task.job.token}, .lease = lease->length}}, deadline,
      [this, weak = std::weak_ptr(alive_), lease,
       id = task.job.id](const Result<std::vector<ExtendResult>>& result) {
        if (weak.expired()) return;
        lease->is_renewing = false;
        if (result.ok()) return on_extended(lease, id, result.value().front());
        shared_->log(LogLevel::warning,
                     "queue " + lease->queue.text() + ": heartbeat: " + result.error().what());
      });
}

void Leases::on_extended(const LeasePtr& lease, const JobId& asked_for,
                         const ExtendResult& result) {
  const auto task_of = [&](const JobId& id) {
    const auto task = std::find_if(lease->tasks.begin(), lease->tasks.end(),
                                   [&](const TaskPtr& other) { return other->job.id == id; });
    return task == lease->tasks.end() ? nullptr : *task;
  };
  if (result.outcome != LeaseOutcome::lease_lost) {
    for (const JobId& id : result.cancelled) {
      if (const TaskPtr task = task_of(id)) hooks_.on_cancelled(task);
    }
    return;
  }
  // The job may have ended meanwhile; then another one of the lease is asked for.
  const TaskPtr asked = task_of(asked_for);
  if (!asked || asked->fate != Task::Fate::open) {
    lease->renew_at = std::chrono::steady_clock::now();
    return look();
  }
  for (const TaskPtr& lost : std::exchange(lease->tasks, {})) {
    if (lost->decide(Task::Fate::lost)) hooks_.on_lost(lost);
  }
}

void Leases::arm(SteadyTime when) {
  armed_for_ = when;
  if (when == SteadyTime::max()) return timer_->cancel();
  timer_->arm(when, [this] { look(); });
}

}  // namespace duly
