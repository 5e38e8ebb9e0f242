#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "duly/connection.h"
#include "duly/job.h"

namespace duly {

/// Thrown by a handler: fail this attempt and try again exactly so much later.
struct RetryAfter {
  Milliseconds delay;
  std::string why{};
};

/// Thrown by a handler: no attempt will do; the job is dead.
struct GiveUp {
  std::string why{};
};

/// One attempt, as its handler sees it.
class Attempt {
 public:
  virtual ~Attempt() = default;

  [[nodiscard]] virtual const ActiveJob& job() const = 0;

  /// Stop is asked when the worker shuts down for good, the lease is lost, the timeout has passed,
  /// or the job was cancelled.
  [[nodiscard]] virtual std::stop_token stop_token() const = 0;

  /// Whether the job's cancel was asked for while it runs; known with the heartbeat, that is within
  /// a third of the lease. The job does not run again, whatever the handler returns or throws.
  [[nodiscard]] virtual bool is_cancelled() const = 0;

  /// Moves the end of this attempt's timeout to `timeout` from now; the lease follows by itself.
  virtual void extend(Milliseconds timeout) = 0;

  /// What the job brought, at most Limits::result bytes: kept with it if its queue keeps done jobs.
  ///
  /// Errors  invalid_argument: too long; the one set before stays.
  virtual void set_result(std::string result) = 0;
};

/// Returns: the job is acked. Throws: the attempt failed, and the text is kept with the job.
using Handler = std::function<void(Attempt&)>;

/// What one queue gets of a worker that has several.
struct QueueShare {
  /// Under QueueOrder::weighted: while several queues have due jobs, they are taken in this
  /// proportion; 1 .. 1,000,000.
  std::uint32_t weight = 1;
  /// Slots that no other queue of the worker gets; all together at most `concurrency`. With any of
  /// them, jobs are claimed only for slots that are free: a little slower for very short jobs.
  std::size_t reserved = 0;
};

/// One of a worker's queues. Converts from a name, so that `.queues = {"mail", "sms"}` reads well;
/// with a share: `.queues = {{"mail", {.weight = 10}}, {"sms", {.reserved = 1}}}`.
struct WorkerQueue {
  template <std::convertible_to<QueueName> Text>
  WorkerQueue(Text queue, QueueShare its_share = {})  // NOLINT(google-explicit-constructor)
      : name(std::move(queue)), share(its_share) {}

  QueueName name;
  QueueShare share;
};

enum class QueueOrder {
  weighted,  ///< Each queue with due jobs gets its share.
  strict,  ///< As listed: a queue gets nothing, for ever if need be, while one before it has jobs.
};

struct WorkerOptions {
  std::vector<WorkerQueue> queues;          ///< One or more, each once.
  QueueOrder order = QueueOrder::weighted;  ///< Without effect on a single queue.
  std::size_t concurrency = 10;             ///< Handlers at once; 1 .. 1,000.
  Milliseconds lease{
      std::chrono::seconds{30}};  ///< For jobs that do not bring their own; kept alive by itself.
  Milliseconds grace{std::chrono::seconds{25}};  ///< How long stop() lets running handlers go on.
  /// Told of each attempt that ended, once Redis has confirmed it; may be empty. Called from one
  /// thread of its own.
  struct Report {
    const ActiveJob& job;
    LeaseOutcome outcome;
    const std::string& error;           ///< Empty for acked.
    std::chrono::nanoseconds lateness;  ///< Start of the handler minus due time, on Redis's clock.
    std::chrono::nanoseconds run_time;
  };
  std::function<void(const Report&)> on_finished{};
};

struct WorkerStats {
  std::uint64_t acked = 0;
  std::uint64_t failed = 0;  ///< Attempts, the last ones included.
  std::uint64_t died = 0;
  std::uint64_t released = 0;
  std::uint64_t cancelled = 0;  ///< Dropped, as their cancel was asked for while they ran.
  std::uint64_t lease_lost = 0;
  std::uint64_t running = 0;  ///< Handlers, the hung ones included.
  std::uint64_t claims = 0;   ///< Claim calls sent.
  /// Handlers that go on after their timeout although they were asked to stop: for as long again,
  /// or 3 s. Their attempts have failed, and what they return is dropped. Other threads take their
  /// places, as many as `concurrency` or 16, whichever is more.
  std::uint64_t hung = 0;
  /// More handlers hang than could be replaced: fewer than `concurrency` run, at last none.
  bool is_degraded = false;
};

/// Claims due jobs and runs their handlers.
class Worker {
 public:
  Worker(Connection connection, WorkerOptions options);
  ~Worker();  ///< As stop_now(), and waits a second for handlers; those that go on are abandoned.
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Registers a handler for jobs of a type; the empty type takes what no other handler takes. A
  /// job whose type has no handler fails with backoff.
  Worker& handle(std::string type, Handler handler);

  /// Works until stopped; returns when the last handler has ended, or, after the grace time and at
  /// most a second, been abandoned: it ignores its stop token, and what it refers to must outlive
  /// it.
  void run();

  /// As run(), and stops by SIGTERM or SIGINT: the first lets handlers go on for the grace time,
  /// the second ends at once.
  void run_until_signal();

  /// Stops claiming; running handlers have the grace time, the rest is released. Any thread;
  /// returns at once.
  void stop();
  /// Stops claiming and releases what runs, without grace.
  void stop_now();

  [[nodiscard]] WorkerStats stats() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace duly
