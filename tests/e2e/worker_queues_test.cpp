#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "tests/e2e/worker_fixture.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

/// How many jobs of each queue were begun.
class Begun {
 public:
  /// Answers how many there are now, in all.
  std::size_t add(const QueueName& queue) {
    const std::lock_guard lock(mutex_);
    ++of_[queue];
    return ++all_;
  }
  [[nodiscard]] std::size_t of(const QueueName& queue) const {
    const std::lock_guard lock(mutex_);
    const auto found = of_.find(queue);
    return found == of_.end() ? 0 : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<QueueName, std::size_t> of_;
  std::size_t all_ = 0;
};

class WorkerQueues : public WorkerTest {
 protected:
  void put_into(const QueueName& queue, std::size_t count) {
    client_.put(queue, std::vector<NewJob>(count));
  }
  /// Handlers that count, and stay until they are stopped.
  [[nodiscard]] Handler staying() const {
    return [begun = begun_](Attempt& attempt) {
      begun->add(attempt.job().queue);
      waits_for_stop(attempt, 1min);
    };
  }

  std::shared_ptr<Begun> begun_ = std::make_shared<Begun>();
};

TEST_F(WorkerQueues, B46_AReservedSlotIsFreeForItsQueue) {
  put_into("low", 100);
  const RunningWorker worker(redis_.url(),
                             {.queues = {"low", {"critical", {.reserved = 1}}}, .concurrency = 4},
                             staying());
  ASSERT_TRUE(eventually([&] { return begun_->of("low") == 3; }));

  const auto put_at = SteadyClock::now();
  put({}, "critical");

  ASSERT_TRUE(eventually([&] { return begun_->of("critical") == 1; }));
  EXPECT_LT(SteadyClock::now() - put_at, 1s);
  EXPECT_EQ(begun_->of("low"), 3U);
  EXPECT_EQ(stats("low").active, 3U);
}

TEST_F(WorkerQueues, WithoutReservedSlotsLongJobsFillThemAll) {
  put_into("low", 100);
  const RunningWorker worker(redis_.url(), {.queues = {"low", "critical"}, .concurrency = 4},
                             staying());

  EXPECT_TRUE(eventually([&] { return begun_->of("low") == 4; }));
}

TEST_F(WorkerQueues, ReservedSlotsServeTheirQueueAgainAndAgain) {
  put_into("low", 3);
  const RunningWorker worker(redis_.url(),
                             {.queues = {"low", {"critical", {.reserved = 1}}}, .concurrency = 3},
                             [begun = begun_](Attempt& attempt) {
                               begun->add(attempt.job().queue);
                               if (attempt.job().queue == "low") waits_for_stop(attempt, 1min);
                             });
  ASSERT_TRUE(eventually([&] { return begun_->of("low") == 2; }));

  put_into("critical", 50);

  EXPECT_TRUE(eventually([&] { return stats("critical").totals.acked == 50; }));
  EXPECT_EQ(begun_->of("low"), 2U);
}

TEST_F(WorkerQueues, B47_EachQueueGetsItsShareByWeight) {
  put_into("high", 16000);
  put_into("low", 400);
  std::atomic<std::size_t> when_low_was_done{0};
  const RunningWorker worker(
      redis_.url(),
      {.queues = {{"high", {.weight = 10}}, {"low", {.weight = 1}}}, .concurrency = 4},
      [&, begun = begun_](Attempt& attempt) {
        const std::size_t all = begun->add(attempt.job().queue);
        if (begun->of("low") == 400 && when_low_was_done == 0) when_low_was_done = all;
      });

  ASSERT_TRUE(eventually([&] { return when_low_was_done > 0; }));

  // Jobs that wait in memory make it a little uneven.
  EXPECT_GE(when_low_was_done, 3600U);
  EXPECT_LE(when_low_was_done, 5200U);
}

TEST_F(WorkerQueues, StrictBeginsNothingElseWhileTheFirstHasJobs) {
  put_into("first", 300);
  put_into("second", 20);
  std::atomic<std::size_t> begun_before_second{0};
  const RunningWorker worker(
      redis_.url(), {.queues = {"first", "second"}, .order = QueueOrder::strict, .concurrency = 2},
      [&, begun = begun_](Attempt& attempt) {
        begun->add(attempt.job().queue);
        if (attempt.job().queue == "second" && begun_before_second == 0) {
          begun_before_second = begun->of("first");
        }
      });

  ASSERT_TRUE(worker.ends(320));

  EXPECT_GE(begun_before_second, 299U);
}

}  // namespace
}  // namespace duly::testing
