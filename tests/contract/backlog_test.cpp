#include <set>

#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class LeaseBacklog : public LeaseContract {
 protected:
  static constexpr int kPieces = 200;  // of 250 jobs
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
  lease().raw({"CONFIG", "SET", "slowlog-log-slower-than", "20000"});
  lease().raw({"SLOWLOG", "RESET"});
  clock().advance(10s);

  std::set<JobId> delivered;
  while (true) {
    const auto jobs = mail().claim_many(Limits::piece, 10s);
    if (jobs.empty()) break;
    for (const ActiveJob& job : jobs) {
      EXPECT_EQ(job.attempt, 2U);
      delivered.insert(job.id);
    }
    mail().ack(held_of(jobs));
  }

  EXPECT_EQ(delivered.size(), kPieces * Limits::piece);
  EXPECT_EQ(lease().raw({"SLOWLOG", "LEN"}).integer, 0);
  EXPECT_EQ(mail().stats().totals.lost_leases, kPieces * Limits::piece);
}

}  // namespace
}  // namespace duly::testing
