#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <tuple>

#include "tests/e2e/worker_fixture.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

/// How many handlers run, and how many did at most; they run until they may end.
struct Crowd {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  std::atomic<bool> may_end{false};

  void enter() {
    const int here = ++now;
    int seen = most;
    while (seen < here && !most.compare_exchange_weak(seen, here)) {
    }
  }
  /// A handler that stays until it may end.
  static Handler staying(std::shared_ptr<Crowd> crowd) {
    return [crowd](Attempt& attempt) {
      crowd->enter();
      eventually([&] { return crowd->may_end || attempt.stop_token().stop_requested(); });
      --crowd->now;
    };
  }
};

class WorkerShares : public WorkerTest {
 protected:
  std::shared_ptr<Crowd> crowd_ = std::make_shared<Crowd>();
};

TEST_F(WorkerShares, ItsHandlersAmongSeveralQueues) {
  for (const char* queue : {"mail", "push", "sms"}) {
    for (int i = 0; i < 20; ++i) put({}, queue);
  }
  const RunningWorker worker(redis_.url(), {.queues = {"mail", "push", "sms"}, .concurrency = 4},
                             [](Attempt&) {});

  ASSERT_TRUE(worker.ends(60));

  for (const char* queue : {"mail", "push", "sms"}) EXPECT_EQ(stats(queue).totals.acked, 20U);
}

TEST_F(WorkerShares, NoQueueStarvesBehindALongOne) {
  put_many(1000);
  const JobId id = put({}, "push");
  const RunningWorker worker(redis_.url(), {.queues = {"mail", "push"}, .concurrency = 2},
                             [](Attempt& attempt) { waits_for_stop(attempt, 2ms); });

  EXPECT_TRUE(eventually([&] { return stats("push").totals.acked == 1; }));

  EXPECT_GT(stats("mail").ready, 500U);
}

TEST_F(WorkerShares, NeverMoreHandlersThanItsConcurrency) {
  put_many(300);
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}, .concurrency = 3},
                             [crowd = crowd_](Attempt& attempt) {
                               crowd->enter();
                               waits_for_stop(attempt, 1ms);
                               --crowd->now;
                             });

  ASSERT_TRUE(worker.ends(300));

  EXPECT_EQ(crowd_->most, 3);
}

TEST_F(WorkerShares, AsManyHandlersAsItsConcurrency) {
  put_many(40);
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}, .concurrency = 30},
                             Crowd::staying(crowd_));

  EXPECT_TRUE(eventually([&] { return crowd_->now == 30; }));
  EXPECT_EQ(stats().ready, 10U);
  crowd_->may_end = true;
  EXPECT_TRUE(worker.ends(40));
  EXPECT_EQ(crowd_->most, 30);
}

TEST_F(WorkerShares, ASecondWorkerGetsWhatTheFirstHasNoSlotFor) {
  put_many(4);
  const RunningWorker first(redis_.url(), {.queues = {"mail"}, .concurrency = 2},
                            Crowd::staying(crowd_));
  ASSERT_TRUE(eventually([&] { return crowd_->now == 2; }));

  const RunningWorker second(redis_.url(), {.queues = {"mail"}, .concurrency = 2},
                             Crowd::staying(crowd_));

  EXPECT_TRUE(eventually([&] { return crowd_->now == 4; }));
  crowd_->may_end = true;
  EXPECT_TRUE(second.ends(2));
}

TEST_F(WorkerShares, WhatWasTakenInAdvanceGoesToAnotherWhenHandlersTurnSlow) {
  put_many(3000, {.type = "quick"});
  put_many(6, {.type = "slow"});
  const Handler handler = [slow = Crowd::staying(crowd_)](Attempt& attempt) {
    if (attempt.job().type == "slow") slow(attempt);
  };
  const RunningWorker first(redis_.url(), {.queues = {"mail"}, .concurrency = 3}, handler);
  ASSERT_TRUE(eventually([&] { return crowd_->now == 3; }));

  const RunningWorker second(redis_.url(), {.queues = {"mail"}, .concurrency = 3}, handler);

  EXPECT_TRUE(eventually([&] { return crowd_->now == 6; }));
  crowd_->may_end = true;
  EXPECT_TRUE(eventually([&] { return stats().totals.acked == 3006; }));
  EXPECT_EQ(stats().totals.failed, 0U);
}

// ---- Who watches which queue ----

class WorkerWatch : public WorkerShares {
 protected:
  /// Until a worker has claimed once and waits.
  static bool is_waiting(RunningWorker& worker) {
    return eventually([&] { return worker.worker().stats().claims > 0; });
  }
};

TEST_F(WorkerWatch, AFullWorkerPassesAJobThatIsPutThenOn) {
  RunningWorker full(redis_.url(), {.queues = {"mail", "push"}, .concurrency = 1},
                     Crowd::staying(crowd_));
  ASSERT_TRUE(eventually([&] { return full.worker().stats().claims >= 2; }));
  RunningWorker idle(redis_.url(), {.queues = {"push"}}, [](Attempt&) {});
  ASSERT_TRUE(is_waiting(idle));
  put();
  ASSERT_TRUE(eventually([&] { return crowd_->now == 1; }));

  put({.delay = 200ms}, "push");

  ASSERT_TRUE(idle.ends(1));
  EXPECT_LT(idle.endings().at(0).lateness, 500ms);
  EXPECT_GE(idle.endings().at(0).lateness, 0ns);
}

TEST_F(WorkerWatch, AWorkerThatBecomesFullPassesAWaitingJobOn) {
  RunningWorker full(redis_.url(), {.queues = {"mail", "push"}, .concurrency = 1},
                     Crowd::staying(crowd_));
  ASSERT_TRUE(eventually([&] { return full.worker().stats().claims >= 2; }));
  RunningWorker idle(redis_.url(), {.queues = {"push"}}, [](Attempt&) {});
  ASSERT_TRUE(is_waiting(idle));
  put({.delay = 500ms}, "push");

  put();

  ASSERT_TRUE(eventually([&] { return crowd_->now == 1; }));
  ASSERT_TRUE(idle.ends(1));
  EXPECT_LT(idle.endings().at(0).lateness, 500ms);
}

class WorkerWakeUp : public WorkerWatch,
                     public ::testing::WithParamInterface<std::tuple<std::size_t, std::size_t>> {};

TEST_P(WorkerWakeUp, B11AShortDelayDoesNotWaitBehindLongOnes) {
  const auto [workers, concurrency] = GetParam();
  std::deque<RunningWorker> idle;
  for (std::size_t i = 0; i < workers; ++i) {
    idle.emplace_back(redis_.url(), WorkerOptions{.queues = {"mail"}, .concurrency = concurrency},
                      [](Attempt&) {});
    ASSERT_TRUE(is_waiting(idle.back()));
  }

  put({.delay = 6h});
  put({.delay = 60s});
  const JobId id = put({.delay = 300ms});

  std::vector<Ending> all;
  ASSERT_TRUE(eventually([&] {
    for (const RunningWorker& worker : idle) {
      if (all.empty()) all = worker.endings();
    }
    return !all.empty();
  }));
  EXPECT_EQ(all.at(0).id, id);
  EXPECT_GE(all.at(0).lateness, 0ns);
  EXPECT_LE(all.at(0).lateness, 1s);
  EXPECT_EQ(stats().scheduled, 2U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, WorkerWakeUp,
                         ::testing::Combine(::testing::Values(1U, 2U),
                                            ::testing::Values(1U, 2U, 30U)),
                         [](const auto& sizes) {
                           return std::to_string(std::get<0>(sizes.param)) + "Of" +
                                  std::to_string(std::get<1>(sizes.param));
                         });

}  // namespace
}  // namespace duly::testing
