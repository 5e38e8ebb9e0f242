#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "duly/worker.h"
#include "src/client/shared.h"
#include "src/worker/claims.h"
#include "src/worker/endings.h"
#include "src/worker/hung.h"
#include "src/worker/leases.h"
#include "src/worker/pool.h"
#include "src/worker/prefetch.h"
#include "src/worker/reporter.h"
#include "src/worker/task.h"
#include "src/worker/upkeep.h"

namespace duly {

/// Everything of one worker. Its hands (claims, endings, leases) live on the connection's thread;
/// handler threads come in by `run_task` alone.
struct Worker::Impl : std::enable_shared_from_this<Worker::Impl> {
  enum class Phase { idle, working, draining, ended };

  Impl(std::shared_ptr<Connection::Shared> given, WorkerOptions worker_options)
      : shared(std::move(given)),
        options(std::move(worker_options)),
        reporter(options.on_finished) {}

  // On the connection's thread.
  void start();
  void begin_drain(Milliseconds grace);
  void end_grace();
  void take_tasks(std::vector<TaskPtr> tasks);
  void drain_ended();
  void confirm(const TaskPtr& task, LeaseOutcome outcome, const std::string& error);
  void give_back(const std::vector<TaskPtr>& tasks);
  void check_ended();
  [[nodiscard]] std::size_t room() const;
  void arm_stale();
  void free_slot(const Task& task);

  // On a handler's thread.
  bool run_task(const TaskPtr& task);  // False: another thread has taken this one's place.
  TaskEnd run_handler(const TaskPtr& task);
  void hand_in(TaskEnd end);

  std::shared_ptr<Connection::Shared> shared;
  WorkerOptions options;
  std::map<std::string, Handler, std::less<>> handlers;
  Reporter reporter;

  std::unique_ptr<Pool> pool;
  std::unique_ptr<Claims> claims;
  std::unique_ptr<Endings> endings;
  std::unique_ptr<Leases> leases;
  std::unique_ptr<Upkeep> upkeep;
  std::unique_ptr<HungHandlers> hung;
  std::unique_ptr<redis::Io::Timer> grace_timer;
  std::unique_ptr<redis::Io::Timer> stale_timer;
  Phase phase = Phase::idle;
  std::size_t held = 0;       // claimed tasks whose handler has not come back or been replaced
  bool has_reserved = false;  // slots
  Prefetch prefetch{std::chrono::steady_clock::now()};
  bool is_stale_armed = false;
  bool is_abandoned = false;  // the grace time is over: nobody waits for handlers

  std::mutex mutex;  // of what handler threads hand in
  std::vector<TaskEnd> ended;
  bool is_drain_posted = false;
  std::promise<void> all_ended;
  std::atomic<bool> was_run{false};

  struct Counters {
    std::atomic<std::uint64_t> acked{0}, failed{0}, died{0}, released{0}, cancelled{0},
        lease_lost{0}, running{0}, claims{0}, hung{0};
    std::atomic<bool> is_degraded{false};
  } counters;
};

}  // namespace duly
