#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "duly/job.h"

namespace duly {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Lease;

/// One claimed job on its way through a worker. The connection's thread owns it; a handler's thread
/// runs it.
struct Task {
  /// Who decides how the attempt ends moves it from `open`, once.
  enum class Fate { open, finished, timed_out, lost, released };
  /// Whether its thread is one of the pool's; who ends that moves it from `taken`, once: the
  /// handler that comes back (`left`), or who gives the place of a hung one to another thread
  /// (`replaced`).
  enum class Seat { taken, left, replaced };

  ActiveJob job;
  /// A moment of the steady clock, and the same moment on Redis's clock, to tell lateness.
  SteadyTime claimed_at{};
  std::chrono::sys_time<std::chrono::microseconds> claimed_at_redis{};
  std::size_t queue = 0;   ///< Position in WorkerOptions::queues.
  Lease* lease = nullptr;  ///< Until its end is confirmed. Connection's thread only.

  std::stop_source stop{};
  std::atomic<bool> is_cancelled{false};  ///< Set before `stop` is asked.
  std::atomic<Fate> fate{Fate::open};
  std::atomic<Seat> seat{Seat::taken};
  std::atomic<SteadyTime> started_at{SteadyTime::max()};  ///< max: not started.
  std::atomic<SteadyTime> ended_at{SteadyTime::max()};    ///< max: its handler has not come back.
  std::atomic<SteadyTime> timeout_at{SteadyTime::max()};
  std::string result{};                  ///< Its handler's, until `fate` is decided.
  std::chrono::nanoseconds lateness{0};  ///< Set just before `started_at`.

  /// True for the one caller that ends it so.
  bool decide(Fate how) {
    Fate expected = Fate::open;
    return fate.compare_exchange_strong(expected, how);
  }
  bool leave_seat(Seat how) {
    Seat expected = Seat::taken;
    return seat.compare_exchange_strong(expected, how);
  }
};

using TaskPtr = std::shared_ptr<Task>;

/// How an attempt ended, as its handler said.
struct TaskEnd {
  TaskPtr task;
  bool is_acked = true;
  Failure failure{};  ///< If not acked.
};

}  // namespace duly
