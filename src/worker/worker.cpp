#include "duly/worker.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

#include "src/core/check.h"
#include "src/worker/impl.h"

namespace duly {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMostConcurrency = 1000;
constexpr std::uint32_t kMostWeight = 1'000'000;
// Ends that Redis has not confirmed: beyond this many the worker claims no more.
constexpr std::size_t kMostOpenEnds = 5000;
// A job that waits in memory for so long goes back: other workers may be free.
constexpr std::chrono::milliseconds kStale{500};
// Beyond the grace time, for giving back what did not end.
constexpr std::chrono::milliseconds kLastWrites{700};

void check(const WorkerOptions& options) {
  const auto refuse = [](const std::string& text) {
    throw Error(ErrorCode::invalid_argument, text);
  };
  if (options.queues.empty()) refuse("queues: none, expected one or more");
  if (options.concurrency < 1 || options.concurrency > kMostConcurrency) {
    refuse("concurrency: " + std::to_string(options.concurrency) + ", expected 1 .. " +
           std::to_string(kMostConcurrency));
  }
  std::set<QueueName> names;
  std::size_t reserved = 0;
  for (const auto& [name, share] : options.queues) {
    core::require(core::check_queue(name));
    if (!names.insert(name).second) refuse("queues: " + name.text() + " twice, expected once");
    if (share.weight < 1 || share.weight > kMostWeight) {
      refuse("weight of " + name.text() + ": " + std::to_string(share.weight) + ", expected 1 .. " +
             std::to_string(kMostWeight));
    }
    if (share.reserved > options.concurrency - reserved) {
      refuse("reserved: more than " + std::to_string(options.concurrency) +
             " slots, expected at most the concurrency");
    }
    reserved += share.reserved;
  }
  core::require(core::check_lease(options.lease));
  if (options.grace < Milliseconds{0}) refuse("grace: below 0, expected 0 or more");
}

}  // namespace

void Worker::Impl::start() {
  if (phase == Phase::ended) return;  // Stopped before it began.
  endings = std::make_unique<Endings>(
      shared,
      Endings::Hooks{
          .on_confirmed = [this](const TaskPtr& task, LeaseOutcome outcome,
                                 const std::string& error) { confirm(task, outcome, error); },
          .is_busy = [this] { return phase == Phase::working && held > 0; }});
  leases = std::make_unique<Leases>(
      shared, Leases::Hooks{.on_timeout =
                                [this](const TaskPtr& task) {
                                  task->stop.request_stop();
                                  endings->fail(
                                      task,
                                      {.error = "timeout: still running after " +
                                                std::to_string(task->job.timeout.count()) + " ms"});
                                  endings->flush();
                                  hung->watch(task);
                                },
                            .on_lost =
                                [this](const TaskPtr& task) {
                                  task->stop.request_stop();
                                  confirm(task, LeaseOutcome::lease_lost, "lease lost");
                                  hung->watch(task);
                                },
                            .on_cancelled =
                                [](const TaskPtr& task) {
                                  task->is_cancelled = true;
                                  task->stop.request_stop();
                                }});
  hung = std::make_unique<HungHandlers>(
      shared, options.concurrency,
      HungHandlers::Hooks{.add_thread = [this] { return pool->add_thread(); },
                          .on_replaced =
                              [this](const TaskPtr& task) {
                                free_slot(*task);
                                claims->pump();
                              },
                          .on_change =
                              [this](std::size_t count, std::size_t lost) {
                                counters.hung = count;
                                counters.is_degraded = lost > 0;
                              }});
  has_reserved = std::any_of(options.queues.begin(), options.queues.end(),
                             [](const WorkerQueue& queue) { return queue.share.reserved > 0; });
  claims = std::make_unique<Claims>(
      shared, options,
      Claims::Hooks{
          .room = [this] { return room(); },
          .on_tasks = [this](std::vector<TaskPtr> tasks) { take_tasks(std::move(tasks)); }});
  grace_timer = shared->io.make_timer();
  stale_timer = shared->io.make_timer();
  std::vector<QueueName> names;
  for (const WorkerQueue& queue : options.queues) names.push_back(queue.name);
  upkeep = std::make_unique<Upkeep>(shared, std::move(names));
  phase = Phase::working;
  claims->start();
  upkeep->start();
}

std::size_t Worker::Impl::room() const {
  if (phase != Phase::working || endings->open() > kMostOpenEnds) return 0;
  // What waits in memory would take a reserved slot that another queue may need.
  const std::size_t ahead = has_reserved ? 0 : prefetch.size(steady_clock::now());
  const std::size_t most = options.concurrency + ahead;
  if (held >= most) return 0;
  const std::size_t free = most - held;
  // While jobs wait in memory there is no hurry: ask again when a good part is free, for a good
  // part at once.
  if (held > options.concurrency && free < std::min(most / 2, Limits::piece)) return 0;
  return free;
}

void Worker::Impl::free_slot(const Task& task) {
  if (!is_abandoned) --held;
  claims->free_slot(task);
}

void Worker::Impl::take_tasks(std::vector<TaskPtr> tasks) {
  counters.claims = claims->calls();
  leases->add(tasks);
  if (!is_abandoned) held += tasks.size();
  if (phase != Phase::working) {
    give_back(tasks);
    return check_ended();
  }
  if (tasks.empty()) return;
  pool->push(std::move(tasks));
  if (held > options.concurrency) arm_stale();
}

void Worker::Impl::arm_stale() {
  if (is_stale_armed) return;
  is_stale_armed = true;
  stale_timer->arm(steady_clock::now() + kStale / 2, [this] {
    is_stale_armed = false;
    if (phase != Phase::working) return;
    give_back(pool->take_back(steady_clock::now() - kStale));
    if (held > options.concurrency) arm_stale();
  });
}

void Worker::Impl::give_back(const std::vector<TaskPtr>& tasks) {
  std::vector<TaskPtr> kept;  // what its engine cannot take back is run
  for (const TaskPtr& task : tasks) {
    if (task->job.token.empty()) {
      kept.push_back(task);
      continue;
    }
    free_slot(*task);
    if (task->decide(Task::Fate::released)) endings->release(task);
  }
  if (!kept.empty()) pool->push(std::move(kept));
  if (!tasks.empty()) endings->flush();
}

void Worker::Impl::drain_ended() {
  std::vector<TaskEnd> ends;
  {
    const std::lock_guard lock(mutex);
    ends.swap(ended);
    is_drain_posted = false;
  }
  if (phase == Phase::ended) return;
  prefetch.finished(ends.size(), steady_clock::now());
  for (TaskEnd& end : ends) {
    if (end.task->seat != Task::Seat::replaced) free_slot(*end.task);
    hung->ended(*end.task);
    if (!end.task->decide(Task::Fate::finished)) continue;
    if (end.is_acked) {
      endings->ack(std::move(end.task));
    } else {
      endings->fail(std::move(end.task), std::move(end.failure));
    }
  }
  endings->flush();
  claims->pump();
  check_ended();
}

void Worker::Impl::confirm(const TaskPtr& task, LeaseOutcome outcome, const std::string& error) {
  leases->confirm(*task);
  switch (outcome) {
    case LeaseOutcome::acked:
      ++counters.acked;
      break;
    case LeaseOutcome::dead:
      ++counters.died;
      [[fallthrough]];
    case LeaseOutcome::failed:
      ++counters.failed;
      break;
    case LeaseOutcome::released:
      ++counters.released;
      break;
    case LeaseOutcome::cancelled:
      ++counters.cancelled;
      break;
    case LeaseOutcome::lease_lost:
      ++counters.lease_lost;
      break;
    case LeaseOutcome::extended:
      break;
  }
  // What never ran is no attempt.
  if (task->started_at.load() != SteadyTime::max()) reporter.add(task, outcome, error);
  check_ended();
}

void Worker::Impl::begin_drain(Milliseconds grace) {
  if (phase == Phase::ended) return;
  if (phase == Phase::idle) {
    phase = Phase::ended;
    all_ended.set_value();
    return;
  }
  const bool is_first = phase != Phase::draining;
  phase = Phase::draining;
  if (is_first) {
    hung->stop();
    claims->stop();
    upkeep.reset();
    give_back(pool->take_back());
  }
  grace_timer->arm(steady_clock::now() + grace, [this] { end_grace(); });
  endings->flush();
  check_ended();
}

void Worker::Impl::end_grace() {
  endings->set_deadline(steady_clock::now() + kLastWrites);
  for (const TaskPtr& task : leases->open_tasks()) {
    task->stop.request_stop();
    if (task->decide(Task::Fate::released)) endings->release(task);
  }
  is_abandoned = true;
  held = 0;
  endings->flush();
  grace_timer->arm(steady_clock::now() + kLastWrites + std::chrono::milliseconds{100}, [this] {
    if (std::exchange(phase, Phase::ended) != Phase::ended) all_ended.set_value();
  });
  check_ended();
}

void Worker::Impl::check_ended() {
  if (phase != Phase::draining || held > 0 || endings->open() > 0 || claims->is_under_way()) return;
  if (!is_abandoned && hung->replaced() > 0) return;
  phase = Phase::ended;
  all_ended.set_value();
}

Worker::Worker(Connection connection, WorkerOptions options) {
  check(options);
  impl_ = std::make_shared<Impl>(connection.shared(), std::move(options));
}

Worker::~Worker() {
  if (!impl_->was_run) return;
  stop_now();
  impl_->pool.reset();
  // Its hands may only be dropped on the thread they work on.
  std::promise<void> dropped;
  impl_->shared->io.post([impl = impl_.get(), &dropped] {
    impl->claims.reset();
    impl->endings.reset();
    impl->leases.reset();
    impl->upkeep.reset();
    impl->hung.reset();
    impl->grace_timer.reset();
    impl->stale_timer.reset();
    dropped.set_value();
  });
  dropped.get_future().wait();
  // The pool's threads may keep the rest a little longer; what the caller gave must not be used by
  // then.
  impl_->reporter.end();
}

Worker& Worker::handle(std::string type, Handler handler) {
  if (impl_->was_run) {
    throw Error(ErrorCode::invalid_argument, "handle: called after run(), expected before");
  }
  impl_->handlers[std::move(type)] = std::move(handler);
  return *this;
}

void Worker::run() {
  if (impl_->was_run.exchange(true)) {
    throw Error(ErrorCode::invalid_argument, "run: called twice, expected once");
  }
  auto ended = impl_->all_ended.get_future();
  impl_->pool =
      std::make_unique<Pool>(impl_->options.concurrency,
                             [impl = impl_](const TaskPtr& task) { return impl->run_task(task); });
  impl_->shared->io.post([impl = impl_] { impl->start(); });
  ended.wait();
}

void Worker::run_until_signal() {
  int seen = 0;
  const auto signals = impl_->shared->io.on_signals({SIGTERM, SIGINT}, [this, &seen](int) {
    if (++seen == 1) {
      stop();
    } else {
      stop_now();
    }
  });
  run();
}

void Worker::stop() {
  impl_->shared->io.post([impl = impl_] { impl->begin_drain(impl->options.grace); });
}

void Worker::stop_now() {
  impl_->shared->io.post([impl = impl_] { impl->begin_drain(Milliseconds{0}); });
}

WorkerStats Worker::stats() const {
  const auto& counters = impl_->counters;
  return {.acked = counters.acked,
          .failed = counters.failed,
          .died = counters.died,
          .released = counters.released,
          .cancelled = counters.cancelled,
          .lease_lost = counters.lease_lost,
          .running = counters.running,
          .claims = counters.claims,
          .hung = counters.hung,
          .is_degraded = counters.is_degraded};
}

}  // namespace duly
