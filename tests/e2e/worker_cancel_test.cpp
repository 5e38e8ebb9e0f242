#include <atomic>
#include <memory>
#include <stdexcept>

#include "tests/e2e/worker_fixture.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class WorkerCancel : public WorkerTest {
 protected:
  struct Run {
    std::atomic<int> begun{0};
    std::atomic<bool> was_cancelled{false};
  };

  /// Puts a job and, once it runs, asks for its cancel.
  JobId put_and_cancel_when_it_runs(const NewJob& job = {}) {
    const JobId id = put(job);
    EXPECT_TRUE(eventually([&] { return run_->begun == 1; }));
    EXPECT_EQ(admin_.cancel("mail", id), ChangeOutcome::asked);
    return id;
  }
  bool is_gone(const JobId& id) { return !admin_.find("mail", id).has_value(); }

  std::shared_ptr<Run> run_ = std::make_shared<Run>();
  const WorkerOptions options_{.queues = {"mail"}, .lease = 300ms};
};

TEST_F(WorkerCancel, TheHandlerLearnsItAndTheJobIsGone) {
  const RunningWorker worker(redis_.url(), options_, [run = run_](Attempt& attempt) {
    ++run->begun;
    waits_for_stop(attempt);
    run->was_cancelled = attempt.is_cancelled();
    throw std::runtime_error("stopped");
  });

  const JobId id = put_and_cancel_when_it_runs();

  ASSERT_TRUE(worker.ends(1));
  EXPECT_TRUE(run_->was_cancelled);
  EXPECT_EQ(worker.endings().at(0).outcome, LeaseOutcome::cancelled);
  EXPECT_TRUE(is_gone(id));
  EXPECT_EQ(stats().totals.cancelled, 1U);
  EXPECT_EQ(stats().totals.failed, 0U);
}

TEST_F(WorkerCancel, AHandlerThatReturnsAllTheSameIsDone) {
  RunningWorker worker(redis_.url(), options_, [run = run_](Attempt& attempt) {
    ++run->begun;
    waits_for_stop(attempt);
  });

  const JobId id = put_and_cancel_when_it_runs();

  ASSERT_TRUE(worker.ends(1));
  EXPECT_EQ(worker.endings().at(0).outcome, LeaseOutcome::acked);
  EXPECT_TRUE(is_gone(id));
  EXPECT_EQ(worker.worker().stats().cancelled, 0U);
}

TEST_F(WorkerCancel, OneThatIgnoresItIsDroppedAtItsTimeout) {
  RunningWorker worker(redis_.url(), options_, [run = run_](Attempt& attempt) {
    ++run->begun;
    eventually([&] { return attempt.is_cancelled(); });
    eventually([] { return false; }, 900ms);
  });

  const JobId id = put_and_cancel_when_it_runs({.timeout = 700ms});

  ASSERT_TRUE(worker.ends(1));
  EXPECT_EQ(worker.endings().at(0).outcome, LeaseOutcome::cancelled);
  EXPECT_TRUE(is_gone(id));
  EXPECT_EQ(run_->begun, 1);
  EXPECT_EQ(worker.worker().stats().cancelled, 1U);
}

TEST_F(WorkerCancel, OtherJobsOfTheClaimLearnNothing) {
  put_many(3);
  const RunningWorker worker(redis_.url(), options_, [run = run_](Attempt& attempt) {
    ++run->begun;
    waits_for_stop(attempt, 1200ms);
    if (attempt.is_cancelled()) throw GiveUp{};
  });
  ASSERT_TRUE(eventually([&] { return run_->begun == 3; }));
  const JobId id = admin_.list("mail", JobState::active).jobs.at(1).id;
  ASSERT_EQ(admin_.cancel("mail", id), ChangeOutcome::asked);

  ASSERT_TRUE(worker.ends(3));

  EXPECT_EQ(worker.endings().at(0).id, id);
  EXPECT_EQ(worker.endings().at(0).outcome, LeaseOutcome::cancelled);
  EXPECT_EQ(stats().totals.acked, 2U);
}

TEST_F(WorkerCancel, AnotherStopIsNoCancel) {
  put({.timeout = 100ms, .max_attempts = 1});
  const RunningWorker worker(redis_.url(), options_, [run = run_](Attempt& attempt) {
    waits_for_stop(attempt);
    run->was_cancelled = attempt.is_cancelled();
    ++run->begun;
  });

  ASSERT_TRUE(eventually([&] { return run_->begun == 1; }));

  EXPECT_FALSE(run_->was_cancelled);
}

}  // namespace
}  // namespace duly::testing
