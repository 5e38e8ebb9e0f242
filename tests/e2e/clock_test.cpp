#include <algorithm>
#include <fstream>
#include <set>

#include "tests/e2e/cli_fixture.h"
#include "tests/e2e/worker_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/worker_process.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

std::size_t warnings_in(const std::string& log) {
  std::size_t count = 0;
  for (auto at = log.find("clock: "); at != std::string::npos; at = log.find("clock: ", at + 1)) {
    ++count;
  }
  return count;
}

std::pair<std::chrono::microseconds, std::chrono::microseconds> lateness_of(
    const std::vector<Delivery>& deliveries) {
  const auto [least, most] = std::minmax_element(
      deliveries.begin(), deliveries.end(),
      [](const Delivery& a, const Delivery& b) { return a.lateness < b.lateness; });
  return {least->lateness, most->lateness};
}

long resident_kib(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  long pages = 0;
  file >> pages >> pages;
  return pages * 4;
}

class Clock : public CliTest {};

// With clocks of producer and worker so far off, each way.
class ClockOff : public Clock, public ::testing::WithParamInterface<const char*> {};

TEST_P(ClockOff, B13_NothingIsEarlyOrLateAndEachLogWarnsOnce) {
  const bool is_ahead = std::string(GetParam()) == "ahead";
  const FakeClock producers(is_ahead ? "+1h" : "-1h");
  const FakeClock workers(is_ahead ? "-1h" : "+1h");
  const WorkerProcess worker({.url = redis_.url(), .environment = workers.environment()});
  constexpr std::size_t kJobs = 40;
  std::string lines;
  for (std::size_t i = 0; i < kJobs; ++i) {
    lines += R"({"payload":"x","in":")" + std::to_string(20 * i) + "ms\"}\n";
  }

  const ProgramEnd put = run_program(line({"put", "mail", "--ndjson", "-"}),
                                     {.input = lines, .environment = producers.environment()});

  EXPECT_EQ(put.status, 0) << put.err;
  ASSERT_TRUE(eventually([&] { return worker.deliveries().size() >= kJobs; })) << worker.err();
  const auto [least, most] = lateness_of(worker.deliveries());
  EXPECT_GE(least, 0us);
  EXPECT_LT(most, 1s);
  EXPECT_EQ(worker.deliveries().size(), kJobs);
  EXPECT_EQ(warnings_in(put.err), 1U) << put.err;
  EXPECT_EQ(warnings_in(worker.err()), 1U) << worker.err();
}
INSTANTIATE_TEST_SUITE_P(BothWays, ClockOff, ::testing::Values("ahead", "behind"),
                         [](const auto& each) { return std::string(each.param); });

TEST_F(Clock, B13_NobodyIsWarnedOfAClockThatIsRight) {
  const FakeClock clock("+0");

  const ProgramEnd put =
      run_program(line({"put", "mail", "x"}), {.environment = clock.environment()});

  EXPECT_EQ(put.status, 0);
  EXPECT_EQ(put.err, "");
}

TEST_F(Clock, B13_AnAbsoluteDueTimeMeansRedissClock) {
  const FakeClock clock("+1h");
  const auto due_at =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + 1h;
  const std::string epoch = std::to_string(due_at.time_since_epoch().count());

  const ProgramEnd put = run_program(line({"put", "mail", "x", "--at", epoch, "--json"}),
                                     {.environment = clock.environment()});

  EXPECT_EQ(Json::parse(put.out).at("due_at_ms"),
            std::chrono::duration_cast<Milliseconds>(due_at.time_since_epoch()).count());
}

class ClockStepped : public WorkerTest {};

TEST_F(ClockStepped, B14_AWorkerGoesOnThroughStepsOfItsClock) {
  const FakeClock clock("+0");
  const WorkerProcess worker({.url = redis_.url(), .environment = clock.environment()});
  put({.delay = 10ms});
  ASSERT_TRUE(eventually([&] { return !worker.deliveries().empty(); })) << worker.err();
  const long memory = resident_kib(worker.pid());

  std::size_t jobs = 1;
  for (const char* const time : {"-10", "-1h", "+2d", "@2200-01-01 00:00:00", "+0"}) {
    put_many(20, {.delay = 100ms});  // Due after the step ...
    clock.set(time);
    put_many(20, {.delay = 150ms});  // ... and put after it.
    jobs += 40;
    EXPECT_TRUE(eventually([&] { return stats().totals.acked == jobs; })) << time;
  }

  std::set<std::string> ids;
  for (const Delivery& one : worker.deliveries()) ids.insert(one.id);
  EXPECT_EQ(ids.size(), jobs);
  EXPECT_EQ(worker.deliveries().size(), jobs) << "no job twice";
  const auto [least, most] = lateness_of(worker.deliveries());
  EXPECT_GE(least, 0us);
  EXPECT_LT(most, 2s) << "no pause";
  EXPECT_LT(resident_kib(worker.pid()), memory + 16 * 1024);
}

TEST_F(ClockStepped, B14_ARunningJobKeepsItsLeaseAndItsTimeout) {
  const FakeClock clock("+0");
  const WorkerProcess worker({.url = redis_.url(),
                              .lease = 500ms,
                              .behaviour = "ms:1500",
                              .environment = clock.environment()});
  put({.timeout = 60s});
  ASSERT_TRUE(eventually([&] { return !worker.deliveries().empty(); })) << worker.err();

  clock.set("+2d");
  EXPECT_TRUE(eventually([&] { return stats().totals.acked == 1; }));

  EXPECT_EQ(worker.deliveries().size(), 1U);
  EXPECT_EQ(stats().totals.lost_leases, 0U);
}

}  // namespace
}  // namespace duly::testing
