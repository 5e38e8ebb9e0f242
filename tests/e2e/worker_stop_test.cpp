#include <atomic>
#include <memory>

#include "tests/e2e/worker_fixture.h"
#include "tests/support/worker_process.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class WorkerStop : public WorkerTest {
 protected:
  /// What the handlers of a test refer to: they may outlive it.
  struct Flags {
    std::atomic<int> running{0};
    std::atomic<bool> may_end{false};
  };

  /// Runs until it may end; `heeds`: or is asked to stop.
  [[nodiscard]] Handler until_allowed(bool heeds) const {
    return [flags = flags_, heeds](Attempt& attempt) {
      ++flags->running;
      eventually([&] { return flags->may_end || (heeds && attempt.stop_token().stop_requested()); },
                 30s);
    };
  }

  void expect_unharmed(const JobId& id) {
    EXPECT_EQ(look(id).state, JobState::ready);
    EXPECT_EQ(look(id).failures, 0U);
    EXPECT_EQ(look(id).lost_leases, 0U);
  }

  ~WorkerStop() override { flags_->may_end = true; }

  std::shared_ptr<Flags> flags_ = std::make_shared<Flags>();
};

TEST_F(WorkerStop, LetsRunningHandlersFinish) {
  put_many(3);
  RunningWorker worker(redis_.url(), {.queues = {"mail"}}, until_allowed(true));
  ASSERT_TRUE(eventually([&] { return flags_->running == 3; }));

  worker.worker().stop();
  put();
  flags_->may_end = true;

  EXPECT_LT(worker.wait(), 2s);
  EXPECT_EQ(worker.worker().stats().acked, 3U);
  EXPECT_EQ(stats().totals.acked, 3U);
  EXPECT_EQ(stats().ready, 1U);
}

TEST_F(WorkerStop, GivesBackWhatDoesNotEndInTheGraceTime) {
  const JobId id = put();
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .grace = 300ms}, until_allowed(true));
  ASSERT_TRUE(eventually([&] { return flags_->running == 1; }));

  worker.worker().stop();
  const auto took = worker.wait();

  EXPECT_GE(took, 250ms);
  EXPECT_LT(took, 1300ms);
  expect_unharmed(id);
  EXPECT_EQ(worker.worker().stats().released, 1U);
}

TEST_F(WorkerStop, AbandonsAHandlerThatIgnoresIt) {
  const JobId id = put();
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .grace = 200ms}, until_allowed(false));
  ASSERT_TRUE(eventually([&] { return flags_->running == 1; }));

  worker.worker().stop();

  EXPECT_LT(worker.wait(), 1200ms);
  expect_unharmed(id);
}

TEST_F(WorkerStop, GivesBackWhatWaitsForASlot) {
  put_many(3000, {.type = "quick"});
  put_many(300, {.type = "slow"});
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .concurrency = 2},
                       [slow = until_allowed(true)](Attempt& attempt) {
                         if (attempt.job().type == "slow") slow(attempt);
                       });
  ASSERT_TRUE(eventually([&] { return flags_->running == 2; }));

  worker.worker().stop();

  EXPECT_TRUE(eventually([&] { return stats().active == 2 && stats().ready == 298; }));
  flags_->may_end = true;
  worker.wait();
  EXPECT_EQ(stats().totals.acked, 3002U);
  EXPECT_EQ(stats().totals.failed, 0U);
}

TEST_F(WorkerStop, NowGivesBackWithoutGrace) {
  const JobId id = put();
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .grace = 1h}, until_allowed(true));
  ASSERT_TRUE(eventually([&] { return flags_->running == 1; }));

  worker.worker().stop();
  worker.worker().stop_now();

  EXPECT_LT(worker.wait(), 1s);
  expect_unharmed(id);
}

TEST_F(WorkerStop, EndsInTimeWhenRedisStandsStill) {
  const JobId id = put();
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .lease = 1s, .grace = 200ms},
                       until_allowed(true));
  ASSERT_TRUE(eventually([&] { return flags_->running == 1; }));

  redis_.kill(SIGSTOP);
  worker.worker().stop();
  EXPECT_LT(worker.wait(), 1200ms);
  redis_.kill(SIGCONT);

  EXPECT_TRUE(eventually([&] {
    admin_.recover("mail");
    return look(id).state == JobState::ready;
  }));
  EXPECT_EQ(look(id).failures, 0U);
}

TEST_F(WorkerStop, BeforeRunMakesRunReturnAtOnce) {
  put();
  Worker worker(Connection(redis_.url()), {.queues = {"mail"}});
  worker.handle("", [](Attempt&) {});
  worker.stop();

  worker.run();

  EXPECT_EQ(stats().ready, 1U);
  EXPECT_EQ(worker.stats().claims, 0U);
}

TEST_F(WorkerStop, AnIdleWorkerEndsAtOnceAndLeavesTheWatchToAnother) {
  RunningWorker leaver(redis_.url(), {.queues = {"mail"}}, [](Attempt&) {});
  ASSERT_TRUE(eventually([&] { return leaver.worker().stats().claims > 0; }));
  RunningWorker stayer(redis_.url(), {.queues = {"mail"}}, [](Attempt&) {});
  ASSERT_TRUE(eventually([&] { return stayer.worker().stats().claims > 0; }));
  put({.delay = 700ms});

  leaver.worker().stop();

  EXPECT_LT(leaver.wait(), 500ms);
  ASSERT_TRUE(stayer.ends(1));
  EXPECT_LT(stayer.endings().at(0).lateness, 300ms);
}

// ---- Processes ----

TEST_F(WorkerStop, B62ATermSignalGivesLongJobsBackUnharmed) {
  for (const char* behaviour : {"ms:60000", "deaf:60000"}) {
    SCOPED_TRACE(behaviour);
    put_many(10 - stats().ready);
    WorkerProcess worker({.url = redis_.url(), .grace = 500ms, .behaviour = behaviour});
    ASSERT_TRUE(eventually([&] { return worker.deliveries().size() == 10; })) << worker.err();

    const auto begun_at = SteadyClock::now();
    worker.signal(SIGTERM);
    const ProgramEnd end = worker.wait();
    const auto took = SteadyClock::now() - begun_at;

    EXPECT_EQ(end.status, 0) << end.signal << end.err;
    EXPECT_GE(took, 500ms);
    EXPECT_LE(took, 1600ms);
    EXPECT_EQ(stats().ready, 10U);
    for (const JobInfo& job : admin_.list("mail", JobState::ready).jobs) expect_unharmed(job.id);
  }
}

TEST_F(WorkerStop, B62ASecondSignalGivesThemBackAtOnce) {
  put_many(10);
  WorkerProcess worker({.url = redis_.url(), .grace = 60s, .behaviour = "ms:60000"});
  ASSERT_TRUE(eventually([&] { return worker.deliveries().size() == 10; })) << worker.err();

  const auto begun_at = SteadyClock::now();
  worker.signal(SIGTERM);
  worker.signal(SIGINT);

  EXPECT_EQ(worker.wait().status, 0);
  EXPECT_LE(SteadyClock::now() - begun_at, 1s);
  EXPECT_EQ(stats().ready, 10U);
}

}  // namespace
}  // namespace duly::testing
