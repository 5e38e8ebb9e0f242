// Links that lose answers, or go dead without a word, for longer.
#include <csignal>
#include <map>

#include "tests/e2e/worker_fixture.h"
#include "tests/support/cut_proxy.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kJobs = 10'000;
constexpr std::size_t kBatch = 100;

class LinkLoss : public WorkerTest {
 protected:
  CutProxy proxy_{redis_.socket_path()};
  Client lossy_{Connection({.redis = proxy_.url(), .timeout = 20s})};
};

TEST_F(LinkLoss, B53TenThousandPutsOverALinkThatDropsEveryTenthAnswerAreTenThousandJobs) {
  proxy_.drop_every(10, "duly_put");
  for (std::size_t done = 0; done < kJobs; done += kBatch) {
    for (const PutResult& result : lossy_.put("mail", std::vector<NewJob>(kBatch))) {
      ASSERT_EQ(result.outcome, PutOutcome::created);
    }
  }

  EXPECT_GE(proxy_.cuts(), 10);
  EXPECT_EQ(stats().ready, kJobs);
  EXPECT_EQ(stats().totals.put, kJobs);
}

TEST_F(LinkLoss, B53AckFailAndExtendTakeEffectOnceOverSuchALink) {
  put_many(80, {.max_attempts = 5, .backoff = {.base = 1h}});
  const auto jobs = client_.claim("mail", {.most = 80, .lease = 1min});
  ASSERT_EQ(jobs.size(), 80U);
  std::map<std::string, int> told;
  const auto again = [&](auto call) {  // as the documentation says: again, after outcome_unknown
    for (;;) {
      try {
        ++told[std::string(to_string(call()))];
        return;
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::outcome_unknown) << error.what();
      }
    }
  };

  proxy_.drop_every(10, "duly_");
  for (std::size_t i = 0; i < 40; ++i) again([&] { return lossy_.extend(jobs[i], 2min); });
  for (std::size_t i = 0; i < 40; ++i) again([&] { return lossy_.ack(jobs[i]); });
  for (std::size_t i = 40; i < 80; ++i) again([&] { return lossy_.fail(jobs[i]); });

  EXPECT_GE(proxy_.cuts(), 12);
  EXPECT_EQ(told["extended"], 40);
  EXPECT_EQ(told["acked"] + told["failed"] + told["lease_lost"], 80);
  EXPECT_EQ(stats().totals.acked, 40U);
  EXPECT_EQ(stats().totals.failed, 40U);
  for (std::size_t i = 40; i < 80; ++i) EXPECT_EQ(look(jobs[i].id).failures, 1U);
}

/// A worker over the proxy whose calls have a short limit.
class DeadLink : public LinkLoss {
 protected:
  DeadLink() : worker_(connection_, WorkerOptions{.queues = {"mail"}}) {
    worker_.handle("", [](Attempt&) {});
    thread_ = std::jthread([this] { worker_.run(); });
  }
  ~DeadLink() override { worker_.stop_now(); }

  bool delivers_within(std::chrono::milliseconds within) {
    const auto before = stats().totals.acked;
    put();
    return eventually([&] { return stats().totals.acked == before + 1; }, within);
  }

  Connection connection_{ConnectionOptions{.redis = proxy_.url(), .timeout = 2s}};
  Worker worker_;
  std::jthread thread_;
};

TEST_F(DeadLink, B28AnIdleWorkerOnAHalfOpenLinkIsBackWithinFifteenSeconds) {
  ASSERT_TRUE(delivers_within(15s));
  proxy_.swallow_all();

  EXPECT_TRUE(delivers_within(15s));
}

TEST_F(DeadLink, B28AWorkerSurvivesStopsOfRedis) {
  ASSERT_TRUE(delivers_within(15s));
  for (int round = 0; round < 3; ++round) {
    const int before = proxy_.connections();
    redis_.kill(SIGSTOP);
    // Long enough for the worker to have thrown its connection away.
    EXPECT_TRUE(eventually([&] { return proxy_.connections() > before; }, 15s));
    redis_.kill(SIGCONT);

    EXPECT_TRUE(delivers_within(15s)) << round;
  }
}

}  // namespace
}  // namespace duly::testing
