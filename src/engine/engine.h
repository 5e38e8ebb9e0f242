#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "duly/admin.h"
#include "duly/client.h"
#include "duly/engines.h"
#include "duly/job.h"
#include "src/core/result.h"

namespace duly {

using Deadline = std::chrono::steady_clock::time_point;

struct ClaimRequest {
  std::size_t most =
      1;  ///< 0 .. Limits::piece. 0 with a waiter: takes nothing, and leaves the waiting.
  Milliseconds lease{30'000};
  LeaseToken token{};    ///< Fresh for each claim, the same when an unknown claim is repeated.
  std::string waiter{};  ///< A Watch's waiter: parks the caller if fewer than `most` jobs are due.
};

struct ClaimReply {
  std::vector<ActiveJob> jobs;
  /// Until the next due time or lease end; empty if nothing waits. Zero if there may be more now.
  std::optional<std::chrono::microseconds> next_in{};
  bool is_parked = false;  ///< The caller's waiter will be told of due jobs; else it is to claim
                           ///< again when it can.
  bool is_keeper =
      false;  ///< Parked, and the one to look again in `next_in`; others wait for a message.
  std::size_t idle = 0;  ///< Of a parked caller that is not the keeper: so many wait as it does.
  std::chrono::sys_time<std::chrono::microseconds> now{};  ///< Redis's clock when it claimed.
};

struct AckRow {
  Held held;
  std::string result{};
};

struct FailRow {
  Held held;
  Failure failure;
};

struct ExtendRow {
  Held held;
  Milliseconds lease;
};

struct ExtendResult {
  LeaseOutcome outcome = LeaseOutcome::extended;  ///< extended, cancelled or lease_lost.
  std::vector<JobId> cancelled{};  ///< Jobs of the same lease whose cancel was asked for.
};

struct RescheduleRow {
  JobId id;
  Milliseconds delay{0};
  std::optional<SystemTime> due_at{};
};

struct EditRow {
  JobId id;
  std::string payload;
};

/// What a sweep over dead letters did.
struct DeadSweep {
  std::uint64_t count = 0;  ///< Less than Limits::piece: none is left.
  SystemTime now;           ///< Redis's clock.
};

/// One piece of a check, as docs/protocol.md names it.
struct CheckRequest {
  std::string_view part;
  std::string cursor = "0";
  CheckMode mode = CheckMode::look;
  Milliseconds every{0};  ///< Of the summary: at most once in so long, whoever asks.
  std::vector<std::string>
      rows{};  ///< Cells of suspects (id, version), or twice (id, token, token).
};

struct CheckPiece {
  std::string cursor = "0";  ///< "0": the part is through.
  std::uint64_t looked = 0;
  std::vector<CheckReport::Finding> findings{};
  std::vector<std::string> seen{};  ///< Pairs: id and version, or token and list.
};

/// One process waiting on one queue. Dropping it ends the waiting (any thread).
class Watch {
 public:
  virtual ~Watch() = default;
  /// What to give as ClaimRequest::waiter.
  [[nodiscard]] virtual const std::string& waiter() const = 0;
};

/// A way of storing jobs and handing them over: the seam between duly and Redis. Every call takes
/// at most Limits::piece rows, answers them in order, and calls back once: on the connection's
/// thread, or at once. Ids, names and sizes have been checked by the caller. Safe from any thread.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Every job has an id.
  virtual void put(const QueueName& queue, std::vector<NewJob> jobs, PutMode mode,
                   Deadline deadline, Done<std::vector<PutResult>> done) = 0;
  virtual void claim(const QueueName& queue, ClaimRequest request, Deadline deadline,
                     Done<ClaimReply> done) = 0;
  virtual void ack(const QueueName& queue, std::vector<AckRow> rows, Deadline deadline,
                   Done<std::vector<LeaseOutcome>> done) = 0;
  virtual void fail(const QueueName& queue, std::vector<FailRow> rows, Deadline deadline,
                    Done<std::vector<LeaseOutcome>> done) = 0;
  virtual void release(const QueueName& queue, std::vector<Held> held, Deadline deadline,
                       Done<std::vector<LeaseOutcome>> done) = 0;
  virtual void extend(const QueueName& queue, std::vector<ExtendRow> rows, Deadline deadline,
                      Done<std::vector<ExtendResult>> done) = 0;

  virtual void cancel(const QueueName& queue, std::vector<JobId> ids, Deadline deadline,
                      Done<std::vector<ChangeOutcome>> done) = 0;
  virtual void reschedule(const QueueName& queue, std::vector<RescheduleRow> rows,
                          Deadline deadline, Done<std::vector<ChangeOutcome>> done) = 0;
  virtual void run_now(const QueueName& queue, std::vector<JobId> ids, Deadline deadline,
                       Done<std::vector<ChangeOutcome>> done) = 0;
  virtual void edit(const QueueName& queue, std::vector<EditRow> rows, Deadline deadline,
                    Done<std::vector<ChangeOutcome>> done) = 0;
  virtual void replay(const QueueName& queue, std::vector<JobId> ids, Deadline deadline,
                      Done<std::vector<ChangeOutcome>> done) = 0;
  virtual void purge(const QueueName& queue, std::vector<JobId> ids, Deadline deadline,
                     Done<std::vector<ChangeOutcome>> done) = 0;

  /// The longest dead of those that died by then, Limits::piece at most.
  virtual void replay_dead(const QueueName& queue, SystemTime died_by, Deadline deadline,
                           Done<DeadSweep> done) = 0;
  virtual void purge_dead(const QueueName& queue, SystemTime died_by, Deadline deadline,
                          Done<DeadSweep> done) = 0;

  virtual void find(const QueueName& queue, std::vector<JobId> ids, Deadline deadline,
                    Done<std::vector<std::optional<JobInfo>>> done) = 0;
  virtual void list(const QueueName& queue, JobState state, ListOptions options, Deadline deadline,
                    Done<JobPage> done) = 0;
  virtual void stats(const QueueName& queue, Deadline deadline, Done<QueueStats> done) = 0;
  virtual void limits(const QueueName& queue, Deadline deadline, Done<QueueLimits> done) = 0;
  virtual void set_limits(const QueueName& queue, QueueLimits limits, Deadline deadline,
                          Done<Nothing> done) = 0;
  virtual void pause(const QueueName& queue, Deadline deadline, Done<Nothing> done) = 0;
  virtual void resume(const QueueName& queue, Deadline deadline, Done<Nothing> done) = 0;
  /// Takes back jobs of expired leases, at most a bounded number; answers how many. 0: none is
  /// left.
  virtual void recover(const QueueName& queue, Deadline deadline, Done<std::uint64_t> done) = 0;

  virtual void check(const QueueName& queue, CheckRequest request, Deadline deadline,
                     Done<CheckPiece> done) = 0;

  /// Makes a queue of an engine; a queue that exists under another one is refused. Answers whether
  /// it is new.
  virtual void create(const QueueName& queue, EngineName engine, Deadline deadline,
                      Done<bool> done) = 0;
  /// Payloads beyond the limit are left where they are.
  virtual void import_piece(const QueueName& queue, ImportRequest request,
                            std::size_t payload_limit, Deadline deadline,
                            Done<ImportPiece> done) = 0;

  virtual void queues(Deadline deadline, Done<std::vector<QueueName>> done) = 0;
  virtual void library(Deadline deadline, Done<LibraryInfo> done) = 0;
  virtual void load_library(Deadline deadline, Done<Nothing> done) = 0;
  virtual void ping(Deadline deadline, Done<Nothing> done) = 0;

  /// Starts waiting: `on_wake` is told when the caller has become the keeper, with the time until
  /// the next due job; and, without a time, when messages may have been lost, so that it claims
  /// once.
  virtual std::unique_ptr<Watch> watch(
      const QueueName& queue,
      std::function<void(std::optional<std::chrono::microseconds> next_in)> on_wake) = 0;
};

}  // namespace duly
