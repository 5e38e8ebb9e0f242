#include <algorithm>
#include <random>

#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

class EngineOrder : public EngineContract {};
INSTANTIATE_TEST_SUITE_P(Engines, EngineOrder, every_engine(), kind_name);

TEST_P(EngineOrder, B20_TenThousandJobsOfOneMillisecondComeInTheOrderOfTheirIds) {
  NEEDS(has_leases);
  constexpr std::size_t kJobs = 10'000;
  const SystemTime instant = clock().now() + 10s;
  std::vector<JobId> ids;
  for (std::size_t i = 0; i < kJobs; ++i) {
    const std::string number = std::to_string(i);
    ids.emplace_back("job-" + std::string(5 - number.size(), '0') + number);
  }
  std::vector<JobId> shuffled = ids;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(20));
  for (std::size_t first = 0; first < kJobs; first += Limits::piece) {
    std::vector<NewJob> jobs(Limits::piece);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].id = shuffled[first + i];
      jobs[i].due_at = instant;
    }
    mail().put_all(std::move(jobs));
  }

  const ClaimReply before = mail().claim({.most = 250});
  EXPECT_THAT(before.jobs, IsEmpty());
  EXPECT_EQ(before.next_in, 10s);
  EXPECT_EQ(mail().stats().oldest_due, instant);

  clock().advance(10s);
  std::vector<JobId> claimed;
  for (auto jobs = mail().claim_many(); !jobs.empty(); jobs = mail().claim_many()) {
    for (const JobId& id : ids_of(jobs)) claimed.push_back(id);
    mail().ack(held_of(jobs));
  }
  EXPECT_TRUE(claimed == ids) << claimed.size();

  mail().put({.delay = 1s, .id = "last"_id});
  EXPECT_EQ(mail().claim({.most = 1}).next_in, 1s);
  clock().advance(1s);
  EXPECT_EQ(mail().claim_one().id, "last"_id);
}

}  // namespace
}  // namespace duly::testing
