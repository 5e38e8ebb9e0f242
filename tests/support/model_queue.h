#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/engine.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_wake.h"

namespace duly::testing {

/// One queue of the model: the rules of src/lua written a second time, in plain maps. What jitter
/// adds to a backoff is left out.
class ModelQueue {
 public:
  ModelQueue(QueueName name, const ManualClock& clock) : name_(std::move(name)), clock_(clock) {}

  std::vector<PutResult> put(const std::vector<NewJob>& jobs, PutMode mode);
  ClaimReply claim(const ClaimRequest& request);
  LeaseOutcome ack(const Held& held, const std::string& result);
  LeaseOutcome fail(const Held& held, const Failure& failure);
  LeaseOutcome release(const Held& held);
  ExtendResult extend(const Held& held, Milliseconds lease);
  std::uint64_t recover();

  ChangeOutcome cancel(const JobId& id);
  ChangeOutcome reschedule(const JobId& id, SystemTime due_at);
  ChangeOutcome run_now(const JobId& id);
  ChangeOutcome edit(const JobId& id, const std::string& payload);
  ChangeOutcome replay(const JobId& id);
  ChangeOutcome purge(const JobId& id);
  DeadSweep replay_dead(SystemTime died_by);
  DeadSweep purge_dead(SystemTime died_by);

  [[nodiscard]] QueueLimits limits() const { return limits_; }
  void set_limits(const QueueLimits& limits);
  void pause() { is_paused_ = true; }
  void resume();

  [[nodiscard]] std::optional<JobInfo> find(const JobId& id) const;
  [[nodiscard]] Result<JobPage> list(JobState state, const ListOptions& options) const;
  [[nodiscard]] QueueStats stats() const;

  /// When a job of this delay or due time is due; empty if beyond the limits.
  [[nodiscard]] std::optional<SystemTime> due_of(Milliseconds delay,
                                                 std::optional<SystemTime> due_at) const;

  ModelWake wake;

 private:
  struct Job {
    NewJob what;
    SystemTime put_at{};
    std::optional<SystemTime> due_at{};   // of waiting jobs
    std::optional<SystemTime> died_at{};  // of dead ones
    std::optional<SystemTime> done_at{};  // of kept ones; active jobs have none of these
    std::optional<DeadReason> reason{};
    std::uint32_t failures = 0;
    std::uint32_t lost_leases = 0;
    std::optional<SystemTime> last_failed_at{};
    std::string last_error{};
    std::string result{};
    bool is_cancel_asked = false;  // of active jobs
  };
  struct Lease {
    SystemTime ends_at{};
    std::vector<JobId> held{};
  };
  // The place of a job in a list: time, what decides between equal times, position in a lease.
  struct Place {
    std::uint32_t below = 0;  // the highest priority
    SystemTime at{};
    std::string tie{};
    std::size_t position = 0;
    auto operator<=>(const Place&) const = default;
  };

  [[nodiscard]] SystemTime now() const { return clock_.now(); }
  [[nodiscard]] JobState state_of(const Job& job) const;
  [[nodiscard]] JobInfo info(const Job& job) const;
  [[nodiscard]] ChangeOutcome absent(const JobId& id) const;
  [[nodiscard]] Job* waiting(const JobId& id);
  [[nodiscard]] Job* dead(const JobId& id);
  [[nodiscard]] std::optional<SystemTime> head() const;
  [[nodiscard]] std::vector<std::pair<SystemTime, LeaseToken>> leases_by_end() const;
  [[nodiscard]] std::vector<std::pair<SystemTime, JobId>> by_end(JobState state) const;
  [[nodiscard]] std::uint64_t kept_bytes(JobState state) const;
  [[nodiscard]] std::size_t waiting_count() const;
  [[nodiscard]] std::uint64_t dead_percent() const;
  [[nodiscard]] bool is_full() const;
  std::uint64_t trim(JobState state, std::uint64_t count, std::uint64_t bytes, Milliseconds age);
  void trim();
  [[nodiscard]] std::map<Place, const Job*> places(JobState state) const;
  [[nodiscard]] std::optional<std::chrono::microseconds> until_next() const;

  void wait_until(Job& job, SystemTime due_at);
  void stop_waiting(Job& job);
  void bury(Job& job, DeadReason reason);
  bool take_out(const Held& held);
  void drop_cancelled(const JobId& id);
  void lose_lease(Job& job, SystemTime ended_at);
  std::pair<std::uint64_t, std::uint64_t> recover_expired();
  [[nodiscard]] ActiveJob hand_over(const Job& job, const LeaseToken& token, SystemTime due_at,
                                    Milliseconds lease) const;
  [[nodiscard]] std::vector<ActiveJob> taken_before(const LeaseToken& token) const;
  [[nodiscard]] LeaseToken token_of_part(const LeaseToken& token, std::size_t& part) const;
  [[nodiscard]] std::uint64_t lateness_ms(const Job& job) const;
  bool take(const ClaimRequest& request, std::vector<ActiveJob>& taken);
  void replay(Job& job);
  void purge(Job& job);

  QueueName name_;
  const ManualClock& clock_;
  bool is_paused_ = false;
  bool has_kept_ = false;  // since the last trim
  std::map<JobId, Job> jobs_;
  // By priority, highest first.
  std::map<std::uint32_t, std::set<std::pair<SystemTime, JobId>>, std::greater<>> due_;
  std::map<LeaseToken, Lease> leases_;
  LeaseToken suspect_{};  // The lease of the suspect that runs, or ran last.
  QueueLimits limits_{};
  QueueStats::Totals totals_;
};

}  // namespace duly::testing
