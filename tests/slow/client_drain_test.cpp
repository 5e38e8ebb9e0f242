#include <atomic>
#include <set>
#include <thread>

#include "tests/e2e/worker_fixture.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

std::vector<Held> held_of(const std::vector<ActiveJob>& jobs) {
  std::vector<Held> held;
  held.reserve(jobs.size());
  for (const ActiveJob& job : jobs) held.push_back({job.id, job.token});
  return held;
}

class ClientDrain : public WorkerTest {};

TEST_F(ClientDrain, B43aJobsOfOneInstantAllComeOut) {
  constexpr std::size_t kJobs = 100'000;
  const SystemTime instant{std::chrono::milliseconds{1'700'000'000'000}};
  put_many(kJobs, {.due_at = instant});

  std::set<JobId> seen;
  std::size_t claims = 0;
  while (true) {
    const auto jobs = client_.claim("mail", {.most = 10'000});
    if (jobs.empty()) break;
    ++claims;
    EXPECT_EQ(jobs.size(), 10'000U);
    for (const ActiveJob& job : jobs) seen.insert(job.id);
    const auto outcomes = client_.ack("mail", held_of(jobs));
    ASSERT_THAT(outcomes, ::testing::Each(LeaseOutcome::acked));
  }

  EXPECT_EQ(claims, 10U);
  EXPECT_EQ(seen.size(), kJobs);
  EXPECT_EQ(stats().totals.acked, kJobs);
}

TEST(ClientFlushed, B25NoErrorReachesTheCallerWhenTheLibraryIsFlushed) {
  constexpr std::size_t kJobs = 20'000;
  RedisServer server({.arguments = {"--appendonly", "yes"}});
  Client putter{Connection(server.url())};
  Client claimer{Connection(server.url())};
  const auto until = SteadyClock::now() + 35s;
  std::atomic<std::size_t> put{0};
  std::atomic<std::size_t> flushes{0};
  std::size_t unknown = 0;
  std::set<JobId> seen;

  std::jthread flusher([&](const std::stop_token& stop) {
    while (!eventually([&] { return stop.stop_requested(); }, 100ms)) {
      if (server.cli("FUNCTION", "FLUSH") == "OK" && server.cli("SCRIPT", "FLUSH") == "OK")
        ++flushes;
    }
  });
  std::jthread puts([&] {
    for (; put < kJobs; put += 10) {
      EXPECT_NO_THROW({
        for (const PutResult& result : putter.put("mail", std::vector<NewJob>(10))) {
          EXPECT_NE(result.outcome, PutOutcome::refused) << result.error->what();
        }
      });
    }
  });
  std::jthread claims([&] {
    EXPECT_NO_THROW({
      while (seen.size() < kJobs && SteadyClock::now() < until) {
        const auto jobs = claimer.claim("mail", {.most = 10, .lease = 1s});
        for (const ActiveJob& job : jobs) seen.insert(job.id);
        // Redis may stop between an ack and its answer: then nobody knows, and that is told.
        try {
          claimer.ack("mail", held_of(jobs));
        } catch (const Error& error) {
          if (error.code() != ErrorCode::outcome_unknown) throw;
          ++unknown;
        }
      }
    });
  });
  EXPECT_TRUE(eventually([&] { return put > kJobs / 2; }, 20s));
  server.restart();
  puts.join();
  claims.join();

  EXPECT_GE(flushes, 3U);
  EXPECT_LE(unknown, 1U);
  EXPECT_EQ(seen.size(), kJobs);
}

}  // namespace
}  // namespace duly::testing
