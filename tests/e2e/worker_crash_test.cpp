#include <map>
#include <optional>

#include "tests/e2e/worker_fixture.h"
#include "tests/support/worker_process.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class WorkerCrash : public WorkerTest {};

TEST_F(WorkerCrash, B52AJobThatCrashesItsWorkersIsQuarantinedAndTheOthersFinish) {
  constexpr std::size_t kOthers = 1000;
  put_many(kOthers / 2);
  const JobId bad = put({.type = "bad"});
  put_many(kOthers / 2);
  const auto log = std::make_shared<DeliveryLog>();
  const WorkerProcessOptions options{
      .url = redis_.url(), .concurrency = 10, .lease = 500ms, .behaviour = "abort:6"};

  // What a supervisor does: start it again.
  std::optional<WorkerProcess> worker;
  std::size_t crashes = 0;
  for (; crashes < 3; ++crashes) {
    worker.emplace(options, log);
    ASSERT_EQ(worker->wait().signal, SIGABRT);
  }
  worker.emplace(options, log);

  EXPECT_TRUE(eventually([&] { return look(bad).state == JobState::dead; }, 20s));
  EXPECT_TRUE(eventually([&] { return stats().totals.acked == kOthers; }, 20s)) << stats().dead;
  EXPECT_EQ(look(bad).dead_reason, DeadReason::quarantined);
  std::map<std::string, int> deliveries;
  for (const Delivery& one : log->deliveries()) ++deliveries[one.id];
  EXPECT_EQ(deliveries.size(), kOthers + 1);
  EXPECT_EQ(stats().dead, 1U);
  EXPECT_EQ(deliveries[bad.text()], 3);
}

TEST_F(WorkerCrash, TheJobsOfAKilledWorkerAreBackAtTheEndOfTheirLease) {
  put_many(10);
  WorkerProcess killed({.url = redis_.url(), .lease = 500ms, .behaviour = "ms:60000"});
  ASSERT_TRUE(eventually([&] { return killed.deliveries().size() == 10; })) << killed.err();
  const RunningWorker idle(redis_.url(), {.queues = {"mail"}}, [](Attempt&) {});

  killed.signal(SIGKILL);
  killed.wait();

  ASSERT_TRUE(idle.ends(10, 1500ms));
  for (const Ending& end : idle.endings()) {
    EXPECT_EQ(end.attempt, 2U);
    EXPECT_EQ(end.outcome, LeaseOutcome::acked);
  }
}

}  // namespace
}  // namespace duly::testing
