#include "src/core/backoff.h"

#include <map>
#include <set>

#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

/// The arithmetic of backoff as Redis does it, through the engine.
class LeaseBackoff : public LeaseContract {
 protected:
  static std::vector<Backoff> policies(double jitter) {
    std::vector<Backoff> all;
    for (const Milliseconds base : {1ms, 1'000ms, 86'400'000ms}) {
      for (const double factor : {1.0, 1.5, 2.0, 10.0, 1e6}) {
        for (const Milliseconds cap : {0ms, 1'000ms, 86'400'000ms, Milliseconds{Limits::backoff}}) {
          if (cap != 0ms && cap < base) continue;
          all.push_back({.base = base, .cap = cap, .factor = factor, .jitter = jitter});
        }
      }
    }
    return all;
  }

  /// What an entry of `tries` holds after so many failures.
  static std::string tries_after(std::uint32_t failures) {
    std::string entry;
    for (int byte = 0; byte < 4; ++byte) entry += static_cast<char>(failures >> (8 * byte));
    return entry + std::string(4 + 6 + 1, '\0');
  }

  /// The waits of one job a policy after its n-th failure.
  std::vector<Milliseconds> waits(const std::vector<Backoff>& backoffs, std::uint32_t failures) {
    std::vector<NewJob> jobs;
    std::vector<JobId> ids;
    for (std::size_t i = 0; i < backoffs.size(); ++i) {
      ids.emplace_back("n" + std::to_string(failures) + "-" + std::to_string(i));
      jobs.push_back(
          {.id = ids.back(), .max_attempts = Limits::max_attempts, .backoff = backoffs[i]});
      lease().raw(
          {"HSET", LeaseHarness::key("tries"), ids.back().text(), tries_after(failures - 1)});
    }
    mail().put_all(std::move(jobs));
    std::vector<FailRow> rows;
    for (const Held& held : held_of(mail().claim_many())) rows.push_back({held, {}});
    mail().fail(std::move(rows));
    std::vector<Milliseconds> waits;
    for (const auto& job : mail().find(ids)) {
      EXPECT_EQ(job.value().failures, failures);
      waits.push_back(job.value().due_at.value_or(SystemTime{}) - clock().now());
    }
    mail().cancel(ids);
    return waits;
  }

  static std::vector<std::uint32_t> many_failures() {
    return {1, 2, 3, 4, 5, 10, 16, 31, 32, 33, 63, 64, 65, 100, 1'024, 32'768, 65'534};
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, LeaseBackoff, lease_engines(), kind_name);

TEST_P(LeaseBackoff, B50_TheWaitIsThatOfTheCoreToTheMillisecond) {
  const auto backoffs = policies(0);
  for (const std::uint32_t failures : many_failures()) {
    const auto waits = this->waits(backoffs, failures);
    for (std::size_t i = 0; i < backoffs.size(); ++i) {
      EXPECT_EQ(waits[i], core::backoff_delay(backoffs[i], failures, 0.0))
          << failures << " failures, policy " << i;
    }
  }
}

TEST_P(LeaseBackoff, B50_TheWaitNeverShrinksAndStaysBetweenBaseAndCap) {
  const auto backoffs = policies(0);
  std::vector<Milliseconds> before(backoffs.size(), 0ms);
  for (const std::uint32_t failures : many_failures()) {
    const auto waits = this->waits(backoffs, failures);
    for (std::size_t i = 0; i < backoffs.size(); ++i) {
      const Backoff& backoff = backoffs[i];
      const Milliseconds cap = backoff.cap == 0ms ? Limits::backoff : backoff.cap;
      EXPECT_GE(waits[i], backoff.base) << failures << " failures, policy " << i;
      EXPECT_LE(waits[i], cap) << failures << " failures, policy " << i;
      EXPECT_GE(waits[i], before[i]) << failures << " failures, policy " << i;
    }
    before = waits;
  }
}

TEST_P(LeaseBackoff, B50_JitterCannotBreakTheBounds) {
  const auto backoffs = policies(1);
  for (const std::uint32_t failures : {1U, 2U, 64U, 65'534U}) {
    const auto waits = this->waits(backoffs, failures);
    for (std::size_t i = 0; i < backoffs.size(); ++i) {
      const Milliseconds plain = core::backoff_delay(backoffs[i], failures, 0.0);
      EXPECT_GE(waits[i], plain) << failures << " failures, policy " << i;
      EXPECT_LE(waits[i], 2 * plain) << failures << " failures, policy " << i;
    }
  }
}

TEST_P(LeaseBackoff, JitterDiffersFromJobToJob) {
  const auto waits = this->waits(std::vector<Backoff>(100, {.base = 1h, .jitter = 1}), 1);

  const std::set<Milliseconds> different(waits.begin(), waits.end());
  EXPECT_GT(different.size(), 90U);
  EXPECT_LT(*different.begin(), 90min);
  EXPECT_GT(*different.rbegin(), 90min);
}

TEST_P(LeaseBackoff, B49_AThousandFailuresOfOneSecondDoNotComeBackInOne) {
  constexpr std::size_t kJobs = 5'000;
  const auto due_after_failure = [&](double jitter) {
    const NewJob job{.backoff = {.kind = Backoff::Kind::fixed, .base = 60s, .jitter = jitter}};
    std::vector<Milliseconds> waits;
    for (std::size_t put = 0; put < kJobs; put += Limits::piece) {
      mail().put_all(std::vector<NewJob>(Limits::piece, job));
      std::vector<FailRow> rows;
      for (const ActiveJob& one : mail().claim_many()) rows.push_back({SyncQueue::held(one), {}});
      const SystemTime failed_at = clock().now();
      std::vector<JobId> ids;
      for (const FailRow& row : rows) ids.push_back(row.held.id);
      mail().fail(std::move(rows));
      for (const auto& found : mail().find(ids)) waits.push_back(*found->due_at - failed_at);
      mail().cancel(ids);
      clock().advance(50ms);
    }
    return waits;
  };

  const auto waits = due_after_failure(0.2);
  ASSERT_EQ(waits.size(), kJobs);
  std::map<std::int64_t, std::size_t> by_second;
  for (const Milliseconds wait : waits) {
    ASSERT_GE(wait, 60s);
    ASSERT_LE(wait, 72s);
    ++by_second[wait / 1s];
  }
  for (const auto& [second, count] : by_second) {
    EXPECT_LE(count, kJobs * 15 / 100) << second;
  }
  EXPECT_THAT(due_after_failure(0), ::testing::Each(Milliseconds{60s}));
}

}  // namespace
}  // namespace duly::testing
