#include <atomic>
#include <memory>
#include <thread>

#include "tests/e2e/worker_fixture.h"
#include "tests/support/raw_redis.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

/// Handlers that ignore their stop token, until the test ends.
class WorkerHung : public WorkerTest {
 protected:
  struct State {
    std::atomic<bool> may_end{false};
    std::atomic<int> come_back{0};
    std::atomic<int> logged_degraded{0};
  };

  ~WorkerHung() override { state_->may_end = true; }

  /// Jobs of type "hang" do, all others end at once.
  [[nodiscard]] Handler handler() const {
    return [state = state_](const Attempt& attempt) {
      if (attempt.job().type != "hang") return;
      while (!state->may_end) std::this_thread::sleep_for(2ms);
      ++state->come_back;
    };
  }
  [[nodiscard]] Connection logging() const {
    return Connection(ConnectionOptions{.redis = redis_.url(),
                                        .log = [state = state_](LogLevel, const std::string& text) {
                                          if (text.find("worker: degraded") != std::string::npos)
                                            ++state->logged_degraded;
                                        }});
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

TEST_F(WorkerHung, B76_HungJobsFailAtTheirTimeoutAndTheOthersGoOn) {
  const NewJob hanging{.type = "hang",
                       .timeout = 300ms,
                       .max_attempts = 2,
                       .backoff = {.kind = Backoff::Kind::fixed, .base = 50ms, .jitter = 0}};
  put_many(3, hanging);
  put_many(100);
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .concurrency = 2, .lease = 300ms},
                       handler());

  ASSERT_TRUE(worker.ends(106, 20s));

  EXPECT_EQ(stats().totals.acked, 100U);
  EXPECT_EQ(stats().totals.died, 3U);
  EXPECT_EQ(stats().totals.lost_leases, 0U);
  for (const Ending& end : worker.endings()) {
    if (end.outcome == LeaseOutcome::acked) continue;
    EXPECT_EQ(end.error, "timeout: still running after 300 ms");
    EXPECT_GE(end.run_time, 299ms);
    EXPECT_LT(end.run_time, 1500ms);
  }
  EXPECT_TRUE(eventually([&] { return worker.worker().stats().hung == 6; }));
  EXPECT_FALSE(worker.worker().stats().is_degraded);
}

TEST_F(WorkerHung, WhatTheyReturnInTheEndIsDropped) {
  put({.type = "hang", .timeout = 100ms, .max_attempts = 1});
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .concurrency = 1}, handler());
  ASSERT_TRUE(eventually([&] { return worker.worker().stats().hung == 1; }));

  state_->may_end = true;

  EXPECT_TRUE(eventually([&] { return worker.worker().stats().hung == 0; }));
  EXPECT_EQ(worker.worker().stats().running, 0U);
  EXPECT_EQ(worker.endings().size(), 1U);
  EXPECT_EQ(stats().totals.acked, 0U);
}

TEST_F(WorkerHung, TooManyOfThemDegradeTheWorkerUntilTheyEnd) {
  constexpr std::size_t kSlots = 17;
  put_many(2 * kSlots, {.type = "hang", .timeout = 200ms, .max_attempts = 1});
  RunningWorker worker(logging(), {.queues = {"mail"}, .concurrency = kSlots}, handler());

  ASSERT_TRUE(eventually([&] { return worker.worker().stats().hung == 2 * kSlots; }));
  EXPECT_TRUE(eventually([&] { return worker.worker().stats().is_degraded; }));
  EXPECT_GE(state_->logged_degraded, 1);
  const JobId id = put();
  EXPECT_TRUE(eventually([&] { return stats().totals.died == 2 * kSlots; }));
  EXPECT_EQ(look(id).state, JobState::ready);

  state_->may_end = true;

  EXPECT_TRUE(eventually([&] { return look(id).state == JobState::done; }));
  EXPECT_TRUE(eventually([&] { return worker.worker().stats().hung == 0; }));
  EXPECT_FALSE(worker.worker().stats().is_degraded);
  EXPECT_EQ(worker.worker().stats().acked, 1U);
}

TEST_F(WorkerHung, ALostLeaseEndsAtTheTimeoutToo) {
  put({.type = "hang", .timeout = 500ms, .max_attempts = 1});
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .concurrency = 1, .lease = 200ms},
                       handler());
  ASSERT_TRUE(eventually([&] { return worker.worker().stats().running == 1; }));
  RawRedis(redis_.socket_path()).command({"DEL", "duly:{mail}:held", "duly:{mail}:leases"});
  ASSERT_TRUE(eventually([&] { return worker.worker().stats().lease_lost == 1; }));

  const JobId id = put();

  EXPECT_TRUE(eventually([&] { return look(id).state == JobState::done; }));
  EXPECT_EQ(worker.worker().stats().hung, 1U);
}

TEST_F(WorkerHung, AStopWaitsForThemAsForOthers) {
  put({.type = "hang", .timeout = 100ms, .max_attempts = 1});
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .grace = 400ms}, handler());
  ASSERT_TRUE(eventually([&] { return worker.worker().stats().hung == 1; }));

  worker.worker().stop();

  const auto took = worker.wait();
  EXPECT_GE(took, 350ms);
  EXPECT_LT(took, 2400ms);
}

TEST_F(WorkerHung, AStopEndsWithTheLastOfThem) {
  put({.type = "hang", .timeout = 100ms, .max_attempts = 1});
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .grace = 1h}, handler());
  ASSERT_TRUE(eventually([&] { return worker.worker().stats().hung == 1; }));

  worker.worker().stop();
  state_->may_end = true;

  EXPECT_LT(worker.wait(), 5s);
  EXPECT_EQ(state_->come_back, 1);
}

}  // namespace
}  // namespace duly::testing
