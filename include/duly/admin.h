#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "duly/connection.h"
#include "duly/engines.h"
#include "duly/import.h"
#include "duly/job.h"

namespace duly {

/// One page of a list: in order of due time (scheduled, ready), lease end (active), or time of
/// death or end, latest first (dead, done).
struct JobPage {
  std::vector<JobInfo> jobs;
  std::optional<std::string> next{};  ///< Give it as `after` for the next page; empty at the end.
};

struct ListOptions {
  std::size_t most = 100;  ///< 1 .. Limits::piece.
  std::string after{};     ///< A page's `next`.
};

/// What is in Redis of duly itself.
struct LibraryInfo {
  std::string version;       ///< In Redis; empty if none is loaded.
  std::string ours;          ///< In this program.
  bool by_functions = true;  ///< False: through EVALSHA, as the server has or grants no functions.
};

enum class CheckMode { look, repair };

/// Looks at queues and steers them. Safe to call from many threads at once.
///
/// Errors are those of Client.
class Admin {
 public:
  explicit Admin(Connection connection);
  ~Admin();
  Admin(Admin&&) noexcept;
  Admin& operator=(Admin&&) noexcept;

  /// Known queues, sorted.
  std::vector<QueueName> queues();
  /// Makes a queue of an engine; without it, the first put makes one of engine lease. Answers
  /// whether it is new.
  ///
  /// Errors  invalid_argument: the queue exists, under another engine; or, for keyspace, Redis
  ///         tells no expiry events,
  ///         and does not let us set that.
  bool create(const QueueName& queue, EngineName engine);
  QueueStats stats(const QueueName& queue);

  std::optional<JobInfo> find(const QueueName& queue, const JobId& id);
  /// Jobs of one state. Pages are not a snapshot: what moves meanwhile may show twice or not at
  /// all.
  JobPage list(const QueueName& queue, JobState state, ListOptions options = {});

  /// Drops a scheduled or ready job. Of an active one, `asked`: its handler is asked to stop with
  /// the next heartbeat (a third of the lease at most), and the job does not run again, whatever
  /// its handler returns or throws, and also if its lease is lost.
  ChangeOutcome cancel(const QueueName& queue, const JobId& id);
  std::vector<ChangeOutcome> cancel(const QueueName& queue, const std::vector<JobId>& ids);

  /// Moves the due time of a scheduled or ready job.
  ChangeOutcome reschedule(const QueueName& queue, const JobId& id, Milliseconds delay);
  ChangeOutcome reschedule(const QueueName& queue, const JobId& id, SystemTime due_at);

  /// Makes a scheduled job due at once.
  ChangeOutcome run_now(const QueueName& queue, const JobId& id);

  /// Replaces the payload of a scheduled or ready job.
  ChangeOutcome edit(const QueueName& queue, const JobId& id, std::string payload);

  /// Makes dead jobs ready again with fresh attempts.
  std::vector<ChangeOutcome> replay(const QueueName& queue, const std::vector<JobId>& ids);
  /// All that are dead when it starts; answers how many.
  std::uint64_t replay_all(const QueueName& queue);

  /// Deletes dead jobs.
  std::vector<ChangeOutcome> purge(const QueueName& queue, const std::vector<JobId>& ids);
  std::uint64_t purge_all(const QueueName& queue);

  /// Stops claims of a queue; nothing else stops. Lasts until resumed.
  void pause(const QueueName& queue);
  void resume(const QueueName& queue);

  QueueLimits limits(const QueueName& queue);
  /// Replaces all limits; what is beyond them now is dropped a piece at a time.
  void set_limits(const QueueName& queue, const QueueLimits& limits);

  /// Takes back the jobs of expired leases now; claims do it anyway. Answers how many.
  std::uint64_t recover(const QueueName& queue);

  /// Looks for damage over all of a queue while it is in use, in pieces; what moves is no finding.
  /// With `repair` it is mended, too: nothing that is left is lost.
  ///
  /// Source  docs/protocol.md, "duly_check".
  CheckReport check(const QueueName& queue, CheckMode mode = CheckMode::look);

  /// Moves a piece of a home-made queue in the same Redis into this one: at most Limits::piece
  /// members, or about Limits::piece_bytes. Its producers and consumers may go on meanwhile.
  ///
  /// Shape   a loop gives each piece's `next` as `after`, until there is none. One step inside
  ///         Redis: a member is in the home-made queue, or a job here, never both or neither. The
  ///         id is made from key and member; with a hash it is the member, if that can be one.
  /// Errors  invalid_argument: wrong keys, or no sorted set and no hash there; outcome_unknown:
  ///         safe to repeat, though what the first try did is in no count.
  /// Source  docs/protocol.md, "duly_import".
  ImportPiece import_piece(const QueueName& queue, ImportRequest request);

  LibraryInfo library();
  /// Loads our library if Redis has none or an older one.
  void load_library();

  /// Round trip to Redis.
  std::chrono::nanoseconds ping();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace duly
