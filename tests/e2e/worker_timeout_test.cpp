#include <atomic>
#include <future>
#include <memory>

#include "tests/e2e/worker_fixture.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class WorkerTimeout : public WorkerTest {
 protected:
  struct Run {
    std::promise<SteadyClock::time_point> started;
    std::atomic<bool> was_asked{false};
  };
  std::shared_ptr<Run> run_ = std::make_shared<Run>();
};

TEST_F(WorkerTimeout, FailsTheAttemptInTimeAndAsksItToStop) {
  const JobId id = put({.timeout = 300ms});
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}}, [run = run_](Attempt& attempt) {
    run->started.set_value(SteadyClock::now());
    run->was_asked = waits_for_stop(attempt);
  });

  ASSERT_TRUE(worker.ends(1));

  const Ending end = worker.endings().at(0);
  const auto took = end.told_at - run_->started.get_future().get();
  EXPECT_GE(took, 299ms);
  EXPECT_LT(took, 500ms);
  EXPECT_EQ(end.outcome, LeaseOutcome::failed);
  EXPECT_GE(end.run_time, 299ms);
  EXPECT_TRUE(eventually([&] { return run_->was_asked.load(); }));
  EXPECT_EQ(look(id).failures, 1U);
  EXPECT_EQ(look(id).last_error, "timeout: still running after 300 ms");
}

TEST_F(WorkerTimeout, AnEndAfterTheTimeoutCountsForNothing) {
  put({.timeout = 100ms});
  RunningWorker worker(redis_.url(), {.queues = {"mail"}},
                       [](Attempt& attempt) { waits_for_stop(attempt); });
  ASSERT_TRUE(worker.ends(1));

  worker.worker().stop();
  worker.wait();

  EXPECT_EQ(worker.endings().size(), 1U);
  EXPECT_EQ(worker.worker().stats().acked, 0U);
  EXPECT_EQ(stats().totals.acked, 0U);
  EXPECT_EQ(stats().totals.failed, 1U);
}

TEST_F(WorkerTimeout, ExtendMovesItsEnd) {
  put({.timeout = 200ms});
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}}, [run = run_](Attempt& attempt) {
    attempt.extend(10s);
    run->was_asked = waits_for_stop(attempt, 600ms);
  });

  ASSERT_TRUE(worker.ends(1));

  EXPECT_EQ(worker.endings().at(0).outcome, LeaseOutcome::acked);
  EXPECT_FALSE(run_->was_asked);
}

TEST_F(WorkerTimeout, ExtendMayShortenIt) {
  put({.timeout = 1h});
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}}, [](Attempt& attempt) {
    attempt.extend(200ms);
    waits_for_stop(attempt);
  });

  ASSERT_TRUE(worker.ends(1));

  EXPECT_EQ(worker.endings().at(0).outcome, LeaseOutcome::failed);
  EXPECT_LT(worker.endings().at(0).run_time, 500ms);
}

TEST_F(WorkerTimeout, ExtendRefusesWhatIsOutOfRange) {
  put({.max_attempts = 1});
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}},
                             [](Attempt& attempt) { attempt.extend(0ms); });

  ASSERT_TRUE(worker.ends(1));

  EXPECT_THAT(worker.endings().at(0).error, ::testing::StartsWith("timeout: 0 ms, expected 1 .."));
}

TEST_F(WorkerTimeout, IsThatOfEachJobOfAClaim) {
  put_many(3, {.timeout = 1h});
  const JobId id = put({.timeout = 200ms});
  put_many(3, {.timeout = 1h});
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}},
                             [](Attempt& attempt) { waits_for_stop(attempt, 1500ms); });

  ASSERT_TRUE(worker.ends(7));

  EXPECT_EQ(worker.endings().at(0).id, id);
  EXPECT_EQ(stats().totals.failed, 1U);
  EXPECT_EQ(stats().totals.acked, 6U);
}

}  // namespace
}  // namespace duly::testing
