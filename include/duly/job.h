#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "duly/error.h"
#include "duly/types.h"

namespace duly {

/// Bounds of everything a caller can give; the same in the library, the command line and Redis.
struct Limits {
  static constexpr std::size_t payload =
      1024UL * 1024;  ///< Bytes, unless the connection says otherwise.
  static constexpr std::size_t payload_most =
      512UL * 1024 * 1024 - 4096;           ///< Redis's own limit, less the record's header.
  static constexpr std::size_t type = 128;  ///< Bytes.
  static constexpr std::size_t id = 128;    ///< Bytes.
  static constexpr std::uint32_t priority = 9;
  static constexpr std::size_t result = 65'536;  ///< Bytes that a handler may return.
  static constexpr std::size_t error = 4096;  ///< Bytes of a kept error text; longer ones are cut.
  static constexpr std::size_t piece = 250;   ///< Jobs in one call to Redis.
  static constexpr std::size_t piece_bytes =
      1024UL * 1024;  ///< Payload bytes in one call, unless one job is larger.
  static constexpr std::uint32_t max_attempts = 65'535;
  static constexpr Milliseconds delay = std::chrono::years{100};
  static constexpr Milliseconds lease_least{100};
  static constexpr Milliseconds lease = std::chrono::hours{24};
  static constexpr Milliseconds timeout = std::chrono::days{30};
  static constexpr Milliseconds backoff = std::chrono::days{30};  ///< Base and cap.
  static constexpr double backoff_factor = 1'000'000.0;
  static constexpr SystemTime last_due_at{
      Milliseconds{253'402'300'799'999}};          ///< 9999-12-31T23:59:59.999Z
  static constexpr std::uint32_t lost_leases = 3;  ///< So many, and the job is quarantined.
};

/// The wait after the n-th failure: min(cap, base * factor^(n-1)), or `base` each time if fixed,
/// plus a random part of at most `jitter` times that. Never less than without jitter.
struct Backoff {
  enum class Kind { exponential, fixed };

  Kind kind = Kind::exponential;
  Milliseconds base{std::chrono::seconds{10}};  ///< 0 .. Limits::backoff.
  Milliseconds cap{
      std::chrono::hours{6}};  ///< base .. Limits::backoff; 0 for none, that is Limits::backoff.
  double factor = 2.0;         ///< 1 .. Limits::backoff_factor, to three decimals.
  double jitter = 0.2;         ///< 0 .. 1, to two decimals.

  bool operator==(const Backoff&) const = default;
};

/// What a producer says about one job.
struct NewJob {
  std::string type{};     ///< Names the handler; 0 .. Limits::type bytes of printable ASCII.
  std::string payload{};  ///< Opaque bytes, 0 .. the payload limit.
  Milliseconds delay{0};  ///< From the moment Redis stores the job; 0 .. Limits::delay.
  std::optional<SystemTime>
      due_at{};               ///< An absolute time instead of a delay; the past means at once.
  std::optional<JobId> id{};  ///< The caller's own id; a fresh one if not given.
  Milliseconds lease{0};      ///< Overrides the claimer's; 0 means the claimer's.
  Milliseconds timeout{
      std::chrono::minutes{30}};    ///< Limit of one attempt; 1 ms .. Limits::timeout.
  std::uint32_t max_attempts = 20;  ///< The first run counts; lost leases do not.
  std::uint32_t priority = 0;       ///< 0 .. Limits::priority; of what is due, 9 goes first.
  Backoff backoff{};
};

enum class PutOutcome {
  created,
  exists,  ///< A job of this id is in the queue, waiting, active, dead or kept as done; it is as it
           ///< was.
  refused,  ///< Not stored; `PutResult::error` says why.
};
std::string_view to_string(PutOutcome outcome);

struct PutResult {
  JobId id;
  PutOutcome outcome = PutOutcome::created;
  std::optional<SystemTime>
      due_at{};  ///< By Redis's clock; empty for `refused`, and for active or dead jobs.
  std::optional<Error> error{};  ///< Set for `refused`. Its code may be outcome_unknown: then the
                                 ///< job may be stored, and a put of the same id is safe.
};

/// A job that this caller has claimed and must ack, fail or release before its lease ends.
struct ActiveJob {
  JobId id;
  LeaseToken token;
  QueueName queue;
  std::string type;
  std::string payload;
  std::uint32_t attempt = 1;  ///< 1 for the first run; failures and lost leases each add one.
  std::uint32_t max_attempts = 20;
  SystemTime due_at;      ///< When this attempt was due.
  SystemTime put_at;      ///< When Redis stored the job.
  SystemTime claimed_at;  ///< When Redis handed it over.
  Milliseconds lease{0};  ///< From `claimed_at`, until extended.
  Milliseconds timeout{0};
};

/// What the queue knows about a job.
struct JobInfo {
  JobId id;
  QueueName queue;
  JobState state = JobState::scheduled;
  std::string type;
  std::string payload;
  SystemTime put_at;
  std::optional<SystemTime> due_at{};          ///< For scheduled and ready jobs.
  std::optional<SystemTime> died_at{};         ///< For dead jobs.
  std::optional<SystemTime> done_at{};         ///< For done jobs.
  std::optional<DeadReason> dead_reason{};     ///< For dead jobs.
  std::optional<SystemTime> last_failed_at{};  ///< The last failure or lost lease.
  std::uint32_t failures = 0;
  std::uint32_t lost_leases = 0;
  std::uint32_t max_attempts = 20;
  std::uint32_t priority = 0;
  std::string last_error{};
  std::string result{};  ///< For done jobs: what the handler returned.
  Milliseconds lease{0};
  Milliseconds timeout{0};
  Backoff backoff{};
  bool is_readable = true;  ///< False: the record is damaged, and `payload` is its raw bytes.
};

/// What ack, fail, release and extend say about one job.
enum class LeaseOutcome {
  acked,
  failed,  ///< Will run again after its backoff.
  dead,    ///< The failure was the last one.
  released,
  extended,
  cancelled,   ///< Its cancel was asked for. fail, release: the job is gone, it does not run again.
               ///< extend: the lease is longer, but stop working on the job and fail or ack it.
  lease_lost,  ///< The token is not the job's current one; nothing has changed.
};
std::string_view to_string(LeaseOutcome outcome);

/// What cancel, reschedule, run now, edit, replay and purge say about one job.
enum class ChangeOutcome {
  done,         ///< As asked.
  asked,        ///< Cancel of an active job: whoever runs it learns it with the next heartbeat, and
                ///< however the attempt ends, the job does not run again.
  not_found,    ///< No such job.
  wrong_state,  ///< The job is not in a state that allows it (say: edit of an active job).
};
std::string_view to_string(ChangeOutcome outcome);

/// How to fail a job.
struct Failure {
  std::string error{};  ///< Kept with the job; at most Limits::error bytes of it.
  std::optional<Milliseconds> retry_in{};  ///< Instead of the backoff; exact, without jitter.
  enum class Then { retry, give_up } then = Then::retry;
};

struct ClaimOptions {
  std::size_t most = 1;                          ///< 1 .. 10,000; asked for in pieces.
  Milliseconds lease{std::chrono::seconds{30}};  ///< For jobs that do not bring their own.
};

/// What one queue may hold. Beyond `length`, puts are refused; of dead and done jobs, the oldest
/// are dropped and counted.
struct QueueLimits {
  /// At the limit of dead letters: drop the oldest, or stop claims until some are replayed or
  /// purged.
  enum class AtLimit { drop, refuse };

  std::uint64_t length = 0;  ///< Waiting jobs; 0: no limit.
  std::uint64_t dead_count = 100'000;
  std::uint64_t dead_bytes = 256UL * 1024 * 1024;  ///< Of records and error texts.
  Milliseconds dead_age = std::chrono::days{180};  ///< 0: no limit.
  AtLimit dead_at_limit = AtLimit::drop;
  Milliseconds done_age{0};  ///< How long done jobs are kept; 0: not at all.
  std::uint64_t done_count = 10'000;
  std::uint64_t done_bytes = 64UL * 1024 * 1024;

  bool operator==(const QueueLimits&) const = default;
};

/// Counts of one queue; `scheduled` and `ready` split by Redis's clock at the moment of asking.
/// Totals only grow: since the queue was first used.
struct QueueStats {
  QueueName queue;
  std::string engine{"lease"};
  bool is_paused = false;
  bool is_stopped = false;  ///< Claims stand still: dead letters are at their limit.
  std::uint64_t scheduled = 0;
  std::uint64_t ready = 0;
  std::uint64_t active = 0;
  std::uint64_t dead = 0;
  std::uint64_t dead_percent = 0;          ///< Of the limit of dead letters that is nearer.
  std::uint64_t done = 0;                  ///< Kept done jobs.
  std::optional<SystemTime> oldest_due{};  ///< Due time of the first waiting job.
  struct Totals {
    std::uint64_t put = 0;
    std::uint64_t claimed = 0;
    std::uint64_t acked = 0;
    std::uint64_t failed = 0;  ///< Failed attempts, the last ones included.
    std::uint64_t lost_leases = 0;
    std::uint64_t released = 0;
    std::uint64_t died = 0;  ///< Jobs that became dead.
    std::uint64_t replayed = 0;
    std::uint64_t purged = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t dead_dropped = 0;  ///< Dead letters dropped beyond the limits.
    std::uint64_t done_expired = 0;  ///< Done jobs that were kept, and are not any more.
    std::uint64_t dropped = 0;       ///< Jobs whose record was lost: their entries, removed.
    std::uint64_t repaired = 0;      ///< Other damage mended; see CheckReport.
    std::uint64_t swept = 0;         ///< Of engine keyspace: jobs whose expiry event was missed.
    std::uint64_t lateness_ms = 0;   ///< Sum of (claim - due) over `claimed`.
  } totals{};
};

/// What does not fit together in Redis, after a restored backup, an eviction, or a deletion by
/// hand.
enum class Damage {
  no_place,    ///< A record that no index holds. Mended: ready now.
  two_places,  ///< A job in more than one index. Mended: kept in one of them.
  no_record,   ///< An index entry whose record is lost. Mended: dropped.
  no_job,      ///< A history of failures without its job. Mended: removed.
  no_end,      ///< A lease without an end. Mended: ends now.
  no_list,     ///< The end of a lease that holds nothing. Mended: removed.
  counts,      ///< Counts that differ, seen by the workers' quick look alone.
  totals,      ///< `put` is not what became of the jobs. Mended: the smaller side grows.
};
std::string_view to_string(Damage damage);

/// What a look over all of a queue has found.
struct CheckReport {
  static constexpr std::size_t kMostFindings = 1'000;

  struct Finding {
    Damage damage;
    std::string what;  ///< The id, the lease's token, or the counts that differ.

    bool operator==(const Finding&) const = default;
  };
  QueueName queue;
  std::uint64_t looked = 0;         ///< Entries looked at.
  std::uint64_t found = 0;          ///< Findings in all.
  std::vector<Finding> findings{};  ///< The first kMostFindings of them.
};

}  // namespace duly
