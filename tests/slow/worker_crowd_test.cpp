#include <algorithm>
#include <fstream>
#include <random>

#include "tests/slow/worker_crowd.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class WorkerCrowd : public CrowdTest {};

TEST_F(WorkerCrowd, B01KillsDuringTheDrainLoseNothing) {
  constexpr std::size_t kJobs = 200'000;
  constexpr std::size_t kKills = 20;
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::minstd_rand random(seed);
  const WorkerProcessOptions options{.behaviour = "ack"};
  put_many(kJobs);

  start_workers(3, options);
  for (std::size_t kill = 0; kill < kKills; ++kill) {
    // Somewhere in the next twentieth of the drain, less its end.
    const std::size_t at = kJobs * 19 / 20 * kill / kKills + random() % 8000;
    ASSERT_TRUE(all_acked(at, 20s));
    ASSERT_EQ(replace_worker(random() % workers_.size(), SIGKILL, options).signal, SIGKILL);
  }
  EXPECT_TRUE(all_acked(kJobs, 20s)) << stats().totals.acked;

  EXPECT_EQ(deliveries_by_id().size(), kJobs);
  EXPECT_EQ(stats().totals.acked, kJobs);
  EXPECT_EQ(stats().dead, 0U);
}

TEST_F(WorkerCrowd, B10NothingIsEarlyOrDoubleUnderManyWorkers) {
  constexpr std::size_t kJobs = 10'000;
  start_workers(5, {.concurrency = 5, .behaviour = "ack"});

  put_many(kJobs, {.delay = 3s});

  ASSERT_TRUE(all_acked(kJobs, 30s)) << stats().totals.acked;
  const auto all = log_->deliveries();
  ASSERT_EQ(all.size(), kJobs);
  EXPECT_EQ(deliveries_by_id().size(), kJobs);
  const auto earliest = std::min_element(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return a.lateness < b.lateness; });
  EXPECT_GE(earliest->lateness, 0us);
}

TEST_F(WorkerCrowd, B64OrderlyRestartsRepeatNothing) {
  constexpr std::size_t kJobs = 100'000;
  const WorkerProcessOptions options{.behaviour = "ms:1"};
  put_many(kJobs);

  start_workers(2, options);
  std::size_t restarts = 0;
  while (!all_acked(kJobs, 2s)) {
    ASSERT_LT(++restarts, 20U) << stats().totals.acked;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      ASSERT_EQ(replace_worker(i, SIGTERM, options).status, 0);
    }
  }

  EXPECT_GE(restarts, 2U);
  EXPECT_EQ(log_->deliveries().size(), kJobs);
  EXPECT_EQ(deliveries_by_id().size(), kJobs);
  EXPECT_EQ(stats().totals.lost_leases, 0U);
}

TEST_F(WorkerCrowd, B62ATermSignalSoonAfterTheStartLosesNothing) {
  constexpr std::size_t kJobs = 50;
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::minstd_rand random(seed);
  const WorkerProcessOptions options{.grace = 0ms, .behaviour = "ms:60000"};
  put_many(kJobs);

  for (int i = 0; i < 100; ++i) {
    start_workers(1, options);
    // Any moment of the start: this waits for nothing.
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 100'000});
    workers_.back()->signal(SIGTERM);
    const ProgramEnd end = workers_.back()->wait();
    // Before it listens for the signal, that simply ends it.
    ASSERT_TRUE(end.status == 0 || end.signal == SIGTERM) << end.status << end.err;
    workers_.clear();
  }

  EXPECT_EQ(stats().ready, kJobs);
  for (const JobInfo& job : admin_.list("mail", JobState::ready).jobs) {
    EXPECT_EQ(job.failures, 0U);
    EXPECT_EQ(job.lost_leases, 0U);
  }
}

// What is not due waits in Redis alone.
TEST_F(WorkerCrowd, B40AWorkerKeepsNothingThatIsNotDue) {
  const auto memory_kib = [](const WorkerProcess& worker) {
    std::ifstream status("/proc/" + std::to_string(worker.pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
    }
    return 0LL;
  };
  const WorkerProcessOptions options{.concurrency = 4, .lease = 30s, .behaviour = "ms:60000"};
  start_workers(1, options);
  put({});
  ASSERT_TRUE(eventually([&] { return log_->deliveries().size() == 1; }));
  const long long before = memory_kib(*workers_[0]);
  ASSERT_GT(before, 0);

  put_many(300'000, {.delay = 24h});
  put_many(1'000);

  ASSERT_TRUE(eventually([&] { return log_->deliveries().size() == 4; }));
  EXPECT_EQ(stats().active, 4U);
  EXPECT_LE(memory_kib(*workers_[0]), before + 30 * 1024);
  workers_[0]->signal(SIGKILL);
  workers_[0]->wait();
  EXPECT_EQ(stats().active, 4U);
  EXPECT_EQ(stats().scheduled, 300'000U);
}

}  // namespace
}  // namespace duly::testing
