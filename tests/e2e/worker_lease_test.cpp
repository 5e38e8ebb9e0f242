#include <atomic>
#include <memory>

#include "tests/e2e/worker_fixture.h"
#include "tests/support/worker_process.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class WorkerLease : public WorkerTest {};

TEST_F(WorkerLease, IsKeptAsLongAsTheHandlerRuns) {
  put();
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}, .lease = 300ms},
                             [](Attempt& attempt) { waits_for_stop(attempt, 900ms); });
  const RunningWorker other(redis_.url(), {.queues = {"mail"}, .lease = 300ms}, [](Attempt&) {});

  ASSERT_TRUE(eventually([&] { return stats().totals.acked == 1; }));

  EXPECT_EQ(stats().totals.claimed, 1U);
  EXPECT_EQ(stats().totals.lost_leases, 0U);
}

TEST_F(WorkerLease, IsKeptForJobsThatBringTheirOwn) {
  put({.lease = 300ms});
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}, .lease = 1h},
                             [](Attempt& attempt) { waits_for_stop(attempt, 900ms); });

  ASSERT_TRUE(worker.ends(1));

  EXPECT_EQ(worker.endings().at(0).outcome, LeaseOutcome::acked);
  EXPECT_EQ(stats().totals.claimed, 1U);
}

TEST_F(WorkerLease, WhenLostAsksTheHandlerToStopAndIsReported) {
  const auto was_asked = std::make_shared<std::atomic<bool>>(false);
  const JobId id = put();
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .lease = 900ms},
                       [was_asked](Attempt& attempt) {
                         if (attempt.job().attempt == 1) *was_asked = waits_for_stop(attempt);
                       });
  ASSERT_TRUE(eventually([&] { return worker.worker().stats().running == 1; }));

  const std::string leases = "duly:{mail}:leases";
  const std::string token = redis_.cli("ZRANGE", leases, "0", "0");
  ASSERT_EQ(redis_.cli("ZADD", leases, "1", token), "0");
  admin_.recover("mail");

  ASSERT_TRUE(worker.ends(2));
  EXPECT_TRUE(eventually([&] { return was_asked->load(); }));
  std::size_t lost = 0;
  for (const Ending& end : worker.endings()) {
    EXPECT_EQ(end.id, id);
    EXPECT_EQ(end.outcome, end.attempt == 1 ? LeaseOutcome::lease_lost : LeaseOutcome::acked);
    if (end.outcome == LeaseOutcome::lease_lost) ++lost;
  }
  EXPECT_EQ(lost, 1U);
  EXPECT_EQ(worker.worker().stats().lease_lost, 1U);
  EXPECT_EQ(stats().totals.acked, 1U);
  EXPECT_EQ(stats().totals.lost_leases, 1U);
}

TEST_F(WorkerLease, B07ADelayLongerThanTheLeaseIsOneDelivery) {
  const WorkerOptions options{.queues = {"mail"}, .lease = 200ms};
  const RunningWorker a(redis_.url(), options, [](Attempt&) {});
  const RunningWorker b(redis_.url(), options, [](Attempt&) {});
  const RunningWorker c(redis_.url(), options, [](Attempt&) {});

  put({.delay = 1500ms});

  ASSERT_TRUE(eventually([&] { return stats().totals.acked == 1; }));
  std::vector<Ending> all;
  EXPECT_TRUE(eventually([&] {
    all.clear();
    for (const RunningWorker* worker : {&a, &b, &c}) {
      for (const Ending& end : worker->endings()) all.push_back(end);
    }
    return !all.empty();
  }));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.at(0).attempt, 1U);
  EXPECT_GE(all.at(0).lateness, 0ns);
  EXPECT_EQ(stats().totals.claimed, 1U);
}

TEST_F(WorkerLease, B08AWorkerThatStoodStillCannotAckWhatAnotherHas) {
  const JobId id = put();
  WorkerProcess still({.url = redis_.url(), .lease = 1s, .behaviour = "ms:300"});
  ASSERT_TRUE(eventually([&] { return still.deliveries().size() == 1; })) << still.err();
  still.signal(SIGSTOP);

  const auto may_end = std::make_shared<std::atomic<bool>>(false);
  const RunningWorker other(redis_.url(), {.queues = {"mail"}, .lease = 1s},
                            [may_end](Attempt&) { eventually([&] { return may_end->load(); }); });
  ASSERT_TRUE(eventually([&] { return stats().totals.claimed == 2; }));
  still.signal(SIGCONT);

  EXPECT_TRUE(eventually([&] { return still.endings().size() == 1; })) << still.err();
  EXPECT_THAT(still.endings(), ::testing::ElementsAre(id.text() + " lease_lost"));
  EXPECT_EQ(stats().totals.acked, 0U);
  *may_end = true;
  ASSERT_TRUE(other.ends(1));
  EXPECT_EQ(other.endings().at(0).outcome, LeaseOutcome::acked);
  EXPECT_EQ(stats().totals.acked, 1U);
}

}  // namespace
}  // namespace duly::testing
