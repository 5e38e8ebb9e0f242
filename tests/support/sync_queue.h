#pragma once

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/client/check_run.h"
#include "src/engine/engine.h"

namespace duly::testing {

/// Calls an engine's functions on one queue and waits for the answers; throws the error that came
/// instead. The shape of the answers is that of the calls: one job in, one outcome out.
class SyncQueue {
 public:
  SyncQueue(std::shared_ptr<Engine> engine, QueueName name)
      : engine_(std::move(engine)), name_(std::move(name)) {}

  [[nodiscard]] const QueueName& name() const { return name_; }

  PutResult put(NewJob job) { return put_all({std::move(job)}).front(); }
  std::vector<PutResult> put_all(std::vector<NewJob> jobs, PutMode mode = PutMode::each) {
    for (NewJob& job : jobs) {
      if (!job.id) job.id = fresh_id();
    }
    return wait<std::vector<PutResult>>(&Engine::put, std::move(jobs), mode);
  }

  ClaimReply claim(ClaimRequest request) {
    if (request.token.empty()) request.token = LeaseToken("t" + std::to_string(++made_));
    return wait<ClaimReply>(&Engine::claim, std::move(request));
  }
  std::vector<ActiveJob> claim_many(std::size_t most = Limits::piece,
                                    Milliseconds lease = std::chrono::seconds{30}) {
    return claim(ClaimRequest{.most = most, .lease = lease}).jobs;
  }
  /// The next due job; throws if there is none.
  ActiveJob claim_one(Milliseconds lease = std::chrono::seconds{30}) {
    return claim_many(1, lease).at(0);
  }

  LeaseOutcome ack(const Held& held, std::string result = {}) {
    return ack(std::vector{AckRow{held, std::move(result)}}).front();
  }
  LeaseOutcome ack(const ActiveJob& job, std::string result = {}) {
    return ack(held(job), std::move(result));
  }
  std::vector<LeaseOutcome> ack(const std::vector<Held>& all) {
    std::vector<AckRow> rows;
    for (const Held& one : all) rows.push_back({one});
    return ack(std::move(rows));
  }
  std::vector<LeaseOutcome> ack(std::vector<AckRow> rows) {
    return wait<std::vector<LeaseOutcome>>(&Engine::ack, std::move(rows));
  }
  LeaseOutcome fail(const Held& held, Failure failure = {}) {
    return fail(std::vector{FailRow{held, std::move(failure)}}).front();
  }
  LeaseOutcome fail(const ActiveJob& job, Failure failure = {}) {
    return fail(held(job), std::move(failure));
  }
  std::vector<LeaseOutcome> fail(std::vector<FailRow> rows) {
    return wait<std::vector<LeaseOutcome>>(&Engine::fail, std::move(rows));
  }
  LeaseOutcome release(const Held& held) { return release(std::vector{held}).front(); }
  LeaseOutcome release(const ActiveJob& job) { return release(held(job)); }
  std::vector<LeaseOutcome> release(std::vector<Held> rows) {
    return wait<std::vector<LeaseOutcome>>(&Engine::release, std::move(rows));
  }
  LeaseOutcome extend(const Held& held, Milliseconds lease) {
    return extend(std::vector{ExtendRow{held, lease}}).front();
  }
  LeaseOutcome extend(const ActiveJob& job, Milliseconds lease) { return extend(held(job), lease); }
  std::vector<LeaseOutcome> extend(std::vector<ExtendRow> rows) {
    std::vector<LeaseOutcome> outcomes;
    for (const ExtendResult& result : extend_and_hear(std::move(rows))) {
      outcomes.push_back(result.outcome);
    }
    return outcomes;
  }
  /// As extend, with the jobs of the same lease whose cancel was asked for.
  std::vector<ExtendResult> extend_and_hear(std::vector<ExtendRow> rows) {
    return wait<std::vector<ExtendResult>>(&Engine::extend, std::move(rows));
  }

  ChangeOutcome cancel(const JobId& id) { return cancel(std::vector{id}).front(); }
  std::vector<ChangeOutcome> cancel(std::vector<JobId> ids) { return change(&Engine::cancel, ids); }
  ChangeOutcome run_now(const JobId& id) { return run_now(std::vector{id}).front(); }
  std::vector<ChangeOutcome> run_now(std::vector<JobId> ids) {
    return change(&Engine::run_now, ids);
  }
  ChangeOutcome replay(const JobId& id) { return replay(std::vector{id}).front(); }
  std::vector<ChangeOutcome> replay(std::vector<JobId> ids) { return change(&Engine::replay, ids); }
  ChangeOutcome purge(const JobId& id) { return purge(std::vector{id}).front(); }
  std::vector<ChangeOutcome> purge(std::vector<JobId> ids) { return change(&Engine::purge, ids); }
  ChangeOutcome reschedule(RescheduleRow row) {
    return reschedule(std::vector{std::move(row)}).front();
  }
  std::vector<ChangeOutcome> reschedule(std::vector<RescheduleRow> rows) {
    return wait<std::vector<ChangeOutcome>>(&Engine::reschedule, std::move(rows));
  }
  ChangeOutcome edit(const JobId& id, std::string payload) {
    return edit(std::vector{EditRow{id, std::move(payload)}}).front();
  }
  std::vector<ChangeOutcome> edit(std::vector<EditRow> rows) {
    return wait<std::vector<ChangeOutcome>>(&Engine::edit, std::move(rows));
  }
  DeadSweep replay_dead(SystemTime died_by) {
    return wait<DeadSweep>(&Engine::replay_dead, died_by);
  }
  DeadSweep purge_dead(SystemTime died_by) { return wait<DeadSweep>(&Engine::purge_dead, died_by); }

  std::optional<JobInfo> find(const JobId& id) { return find(std::vector{id}).front(); }
  std::vector<std::optional<JobInfo>> find(std::vector<JobId> ids) {
    return wait<std::vector<std::optional<JobInfo>>>(&Engine::find, std::move(ids));
  }
  /// The job, which must be there.
  JobInfo info(const JobId& id) { return find(id).value(); }
  JobState state_of(const JobId& id) { return info(id).state; }
  JobPage list(JobState state, ListOptions options = {}) {
    return wait<JobPage>(&Engine::list, state, std::move(options));
  }
  QueueStats stats() { return wait<QueueStats>(&Engine::stats); }
  QueueLimits limits() { return wait<QueueLimits>(&Engine::limits); }
  void set_limits(QueueLimits limits) { wait<Nothing>(&Engine::set_limits, limits); }
  void pause() { wait<Nothing>(&Engine::pause); }
  void resume() { wait<Nothing>(&Engine::resume); }
  std::uint64_t recover() { return wait<std::uint64_t>(&Engine::recover); }

  /// A look over all of it, as Admin::check.
  CheckReport check(CheckMode mode = CheckMode::look) {
    auto promise = std::make_shared<std::promise<Result<CheckReport>>>();
    auto answer = promise->get_future();
    run_check(
        engine_,
        {.queue = name_,
         .mode = mode,
         .deadline = [] { return std::chrono::steady_clock::now() + std::chrono::seconds{20}; }},
        [promise](Result<CheckReport> result) { promise->set_value(std::move(result)); });
    return answer.get().take();
  }
  /// What the queue's workers do now and then.
  CheckPiece summary(CheckMode mode = CheckMode::look, Milliseconds every = Milliseconds{0}) {
    return wait<CheckPiece>(&Engine::check,
                            CheckRequest{.part = "summary", .mode = mode, .every = every});
  }

  static Held held(const ActiveJob& job) { return {job.id, job.token}; }

 private:
  template <class T, class Function, class... Arguments>
  T wait(Function function, Arguments... arguments) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto answer = promise->get_future();
    ((*engine_).*function)(name_, std::move(arguments)..., deadline,
                           [promise](Result<T> result) { promise->set_value(std::move(result)); });
    return answer.get().take();
  }

  template <class Function>
  std::vector<ChangeOutcome> change(Function function, std::vector<JobId>& ids) {
    return wait<std::vector<ChangeOutcome>>(function, std::move(ids));
  }

  // Fresh ids sort in the order in which they were made.
  JobId fresh_id() {
    std::string number = std::to_string(++made_);
    return JobId("job-" + std::string(8 - number.size(), '0') + number);
  }

  std::shared_ptr<Engine> engine_;
  QueueName name_;
  int made_ = 0;
};

}  // namespace duly::testing
