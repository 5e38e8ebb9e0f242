#include <algorithm>
#include <set>
#include <string>

#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class LeaseBacklog : public LeaseContract {
 protected:
  static constexpr int kPieces = 200;  // of 250 jobs

  /// What Redis's main thread has worked until now: no other program can make that longer.
  std::chrono::duration<double> worked() {
    const std::string info = lease().raw({"INFO", "cpu"}).text;
    const auto seconds = [&](const std::string& field) {
      return std::stod(info.substr(info.find(field + ":") + field.size() + 1));
    };
    return std::chrono::duration<double>(seconds("used_cpu_user_main_thread") +
                                         seconds("used_cpu_sys_main_thread"));
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, LeaseBacklog, ::testing::Values(EngineKind::functions),
                         kind_name);

TEST_P(LeaseBacklog, B43_FiftyThousandLeasesThatEndTogetherAreDrainedInShortCalls) {
  for (int piece = 0; piece < kPieces; ++piece) {
    mail().put_all(std::vector<NewJob>(Limits::piece));
  }
  for (int piece = 0; piece < kPieces; ++piece) {
    ASSERT_EQ(mail().claim_many(Limits::piece, 10s).size(), Limits::piece);
  }
  clock().advance(10s);

  std::set<JobId> delivered;
  std::chrono::duration<double> longest{0};
  while (true) {
    const auto before = worked();
    const auto jobs = mail().claim_many(Limits::piece, 10s);
    longest = std::max(longest, worked() - before);
    if (jobs.empty()) break;
    for (const ActiveJob& job : jobs) {
      EXPECT_EQ(job.attempt, 2U);
      delivered.insert(job.id);
    }
    mail().ack(held_of(jobs));
  }

  EXPECT_EQ(delivered.size(), kPieces * Limits::piece);
  EXPECT_LT(longest, 20ms);
  EXPECT_EQ(mail().stats().totals.lost_leases, kPieces * Limits::piece);
  RecordProperty("longest_claim_us", static_cast<int>(longest.count() * 1e6));
}

}  // namespace
}  // namespace duly::testing
