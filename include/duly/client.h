#pragma once

#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "duly/connection.h"
#include "duly/job.h"

namespace duly {

/// Whether a batch of puts may be stored in part.
enum class PutMode {
  each,            ///< Item by item; any number of jobs.
  all_or_nothing,  ///< All are created or none; at most Limits::piece jobs and Limits::piece_bytes
                   ///< payload bytes.
};

/// One job of a claim, named by who holds it.
struct Held {
  JobId id;
  LeaseToken token;
};

/// Puts jobs into queues and works on them by hand. Safe to call from many threads at once: calls
/// made while another is under way leave together.
///
/// Every call ends within the connection's timeout, and throws duly::Error: invalid_argument;
/// unavailable (nothing happened); outcome_unknown; out_of_memory (put only); incompatible.
class Client {
 public:
  explicit Client(Connection connection);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  /// Stores a job that becomes ready once it is due.
  ///
  /// Shape   one job in; its id, `created` or `exists`, and its due time out.
  /// Units   delay in milliseconds on Redis's clock.
  /// Errors  invalid_argument; unavailable; outcome_unknown (safe to repeat with the same id);
  ///         out_of_memory.
  /// Source  docs/protocol.md, "put".
  PutResult put(const QueueName& queue, NewJob job);
  std::future<PutResult> put_async(const QueueName& queue, NewJob job);

  /// Stores many jobs.
  ///
  /// Shape   one result a job, in order; a bad item is `refused` there and stops no other. Throws
  ///         only for a wrong queue name or, in all_or_nothing mode, too many jobs.
  /// Source  docs/protocol.md, "put".
  std::vector<PutResult> put(const QueueName& queue, std::vector<NewJob> jobs,
                             PutMode mode = PutMode::each);
  std::future<std::vector<PutResult>> put_async(const QueueName& queue, std::vector<NewJob> jobs,
                                                PutMode mode = PutMode::each);

  /// Takes due jobs under a lease. Empty if none is due, or the queue is paused; does not wait.
  ///
  /// Shape   at most `most` jobs, longest overdue first.
  /// Source  docs/protocol.md, "claim".
  std::vector<ActiveJob> claim(const QueueName& queue, ClaimOptions options = {});
  std::future<std::vector<ActiveJob>> claim_async(const QueueName& queue,
                                                  ClaimOptions options = {});

  /// Reports success: the job is done and leaves the queue, or is kept for a while if the queue
  /// keeps done jobs. `result`: at most Limits::result bytes, kept with a done job.
  LeaseOutcome ack(const ActiveJob& job, std::string result = {});
  LeaseOutcome ack(const QueueName& queue, const Held& held, std::string result = {});
  std::vector<LeaseOutcome> ack(const QueueName& queue, const std::vector<Held>& held);
  std::future<LeaseOutcome> ack_async(const QueueName& queue, const Held& held,
                                      std::string result = {});

  /// Reports an error: the job runs again after its backoff, or is dead if none is left.
  LeaseOutcome fail(const ActiveJob& job, const Failure& failure = {});
  LeaseOutcome fail(const QueueName& queue, const Held& held, const Failure& failure = {});

  /// Gives a job back unharmed: ready at once, no attempt charged.
  LeaseOutcome release(const ActiveJob& job);
  LeaseOutcome release(const QueueName& queue, const Held& held);
  std::vector<LeaseOutcome> release(const QueueName& queue, const std::vector<Held>& held);

  /// Keeps the lease of the whole claim that holds the job until `lease` from now on Redis's clock.
  /// `lease`: Limits::lease_least .. Limits::lease. `cancelled`: as `extended`, but the job's
  /// cancel was asked for; stop working on it.
  LeaseOutcome extend(const ActiveJob& job, Milliseconds lease);
  LeaseOutcome extend(const QueueName& queue, const Held& held, Milliseconds lease);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace duly
