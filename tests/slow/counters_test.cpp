#include <random>

#include "tests/slow/worker_crowd.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class WorkerCounters : public CrowdTest {
 protected:
  std::size_t pick(std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random_);
  }

  void put_some() {
    std::vector<NewJob> jobs(100);
    for (NewJob& job : jobs) {
      job.type = pick(3) == 0 ? "fails" : "";
      job.delay = Milliseconds{pick(3) == 0 ? 60'000 : pick(500)};
      job.max_attempts = 1 + static_cast<std::uint32_t>(pick(2));
      job.backoff = {.base = Milliseconds{pick(300)}};
    }
    client_.put("mail", std::move(jobs));
  }

  std::vector<JobId> some(JobState state) {
    std::vector<JobId> ids;
    for (const JobInfo& job : admin_.list("mail", state, {.most = 1 + pick(19)}).jobs) {
      ids.push_back(job.id);
    }
    return ids;
  }

  void disturb(std::size_t stop) {
    const WorkerProcessOptions options{.lease = 300ms, .behaviour = "ms:2"};
    switch (pick(5)) {
      case 0:
        admin_.cancel("mail", some(JobState::scheduled));
        break;
      case 1:
        admin_.purge("mail", some(JobState::dead));
        break;
      case 2:
        admin_.replay("mail", some(JobState::dead));
        break;
      case 3:
        admin_.pause("mail");
        break;
      case 4:
        client_.claim("mail", {.most = 5, .lease = 200ms});  // and let it lapse
        break;
      default:
        for (const ActiveJob& job : client_.claim("mail", {.most = 5})) client_.release(job);
    }
    if (stop % 3 == 0) admin_.resume("mail");
    if (stop % 10 == 9) replace_worker(pick(1), SIGKILL, options);
  }

  const std::uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
};

TEST_F(WorkerCounters, B100_TotalsAddUpAtEachOfAHundredStops) {
  SCOPED_TRACE(seed_);
  constexpr std::size_t kStops = 100;
  start_workers(2, {.lease = 300ms, .behaviour = "ms:2"});

  for (std::size_t stop = 0; stop < kStops; ++stop) {
    put_some();
    disturb(stop);
    const QueueStats now = stats();
    const QueueStats::Totals& t = now.totals;
    ASSERT_EQ(t.put, t.acked + t.cancelled + t.purged + t.dropped + t.dead_dropped + now.scheduled +
                         now.ready + now.active + now.dead);
    ASSERT_EQ(t.died - t.replayed - t.purged, now.dead);
    ASSERT_EQ(t.dropped + t.repaired, 0U);
    ASSERT_EQ(admin_.check("mail").found, 0U);
  }
  admin_.resume("mail");
  for (auto ids = some(JobState::scheduled); !ids.empty(); ids = some(JobState::scheduled)) {
    admin_.cancel("mail", ids);
  }

  EXPECT_EQ(stats().totals.put, kStops * 100);
  EXPECT_TRUE(
      eventually([&] { return stats().ready + stats().active + stats().scheduled == 0; }, 30s));
  EXPECT_GT(stats().totals.lost_leases, 0U);
}

TEST_F(WorkerCounters, B04_RunningWorkersFindDamageWithinAMinute) {
  start_workers(2, {});
  put_many(10);
  ASSERT_TRUE(all_acked(10, 5s));
  const JobId lost = put({.delay = 1h});
  const JobId gone = put({.delay = 1h});
  ASSERT_EQ(redis_.cli("ZREM", "duly:{mail}:due", lost.text()), "1");
  ASSERT_EQ(redis_.cli("HDEL", "duly:{mail}:jobs", gone.text()), "1");
  // Equal numbers of records and entries: a third damage makes it seen.
  const JobId third = put({.delay = 1h});
  ASSERT_EQ(redis_.cli("HDEL", "duly:{mail}:jobs", third.text()), "1");

  EXPECT_TRUE(all_acked(11, 55s));
  EXPECT_TRUE(eventually([&] { return stats().totals.dropped == 2; }));
  EXPECT_EQ(stats().totals.repaired, 1U);
}

}  // namespace
}  // namespace duly::testing
