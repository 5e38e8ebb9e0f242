#include <set>

#include "tests/contract/engine_contract.h"
#include "tests/support/eventually.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EnginePause : public EngineContract {
 protected:
  std::vector<QueueName> queues() {
    std::promise<std::vector<QueueName>> names;
    engine().queues(
        std::chrono::steady_clock::now() + 20s,
        [&](Result<std::vector<QueueName>> result) { names.set_value(std::move(result).take()); });
    return names.get_future().get();
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, EnginePause, every_engine(), kind_name);

TEST_P(EnginePause, APausedQueueGivesNoJobsUntilItIsResumed) {
  mail().put({});
  mail().pause();

  const ClaimReply reply = mail().claim(ClaimRequest{});

  EXPECT_THAT(reply.jobs, IsEmpty());
  EXPECT_FALSE(reply.next_in);
  EXPECT_TRUE(mail().stats().is_paused);
  mail().resume();
  EXPECT_FALSE(mail().stats().is_paused);
  EXPECT_THAT(mail().claim_many(), SizeIs(1));
}

TEST_P(EnginePause, PausingAndResumingTwiceIsAsOnce) {
  mail().put({});

  mail().pause();
  mail().pause();
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  mail().resume();
  mail().resume();
  EXPECT_THAT(mail().claim_many(), SizeIs(1));
}

TEST_P(EnginePause, AllButClaimsGoesOnInAPausedQueue) {
  NEEDS(has_leases);
  mail().put_all({{}, {}, {}, {}});
  const auto jobs = mail().claim_many(4, 10s);
  mail().pause();

  EXPECT_EQ(mail().ack(jobs[0]), LeaseOutcome::acked);
  EXPECT_EQ(mail().fail(jobs[1]), LeaseOutcome::failed);
  EXPECT_EQ(mail().release(jobs[2]), LeaseOutcome::released);
  EXPECT_EQ(mail().extend(jobs[3], 20s), LeaseOutcome::extended);
  EXPECT_EQ(mail().put({}).outcome, PutOutcome::created);
  EXPECT_EQ(mail().cancel(jobs[2].id), ChangeOutcome::done);
  clock().advance(20s);
  EXPECT_EQ(mail().recover(), 1U);
}

TEST_P(EnginePause, AClaimOfAPausedQueueStillTakesBackExpiredLeases) {
  NEEDS(has_leases);
  put_and_claim({.id = "a"_id}, 10s);
  mail().pause();
  clock().advance(10s);

  EXPECT_THAT(mail().claim_many(), IsEmpty());

  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
}

TEST_P(EnginePause, ARepeatedClaimIsAnsweredInAPausedQueue) {
  NEEDS(has_leases);
  mail().put({.id = "a"_id});
  const ClaimRequest request{.token = LeaseToken("mine")};
  mail().claim(request);
  mail().pause();

  EXPECT_THAT(ids_of(mail().claim(request).jobs), ElementsAre("a"_id));
}

TEST_P(EnginePause, OnlyTheNamedQueueIsPaused) {
  sms().put({});
  mail().pause();

  EXPECT_FALSE(sms().stats().is_paused);
  EXPECT_THAT(sms().claim_many(), SizeIs(1));
}

TEST_P(EnginePause, QueuesAreKnownOnceTheyAreUsed) {
  EXPECT_THAT(queues(), IsEmpty());

  sms().put({});
  mail().claim_many();

  EXPECT_TRUE(eventually([&] { return queues().size() == 2; }));
  EXPECT_THAT(queues(), ElementsAre(QueueName("mail"), QueueName("sms")));
}

// Waiting, dead and active of the queue, in one line.
std::string counts_of(const QueueStats& stats) {
  return std::to_string(stats.scheduled) + " scheduled, " + std::to_string(stats.ready) +
         " ready, " + std::to_string(stats.active) + " active, " + std::to_string(stats.dead) +
         " dead";
}

TEST_P(EnginePause, B65_PauseRetryAndResumeFitTogether) {
  NEEDS(has_leases);
  for (int i = 0; i < 5; ++i) put_and_kill({});
  put_and_claim({}, 4s);
  mail().put_all(std::vector<NewJob>(15));
  mail().put_all(std::vector<NewJob>(5, {.delay = 3s}));
  EXPECT_EQ(counts_of(mail().stats()), "5 scheduled, 15 ready, 1 active, 5 dead");

  mail().pause();
  EXPECT_EQ(counts_of(mail().stats()), "5 scheduled, 15 ready, 1 active, 5 dead");
  EXPECT_EQ(mail().replay_dead(clock().now()).count, 5U);
  EXPECT_EQ(counts_of(mail().stats()), "5 scheduled, 20 ready, 1 active, 0 dead");
  clock().advance(5s);
  EXPECT_EQ(counts_of(mail().stats()), "0 scheduled, 25 ready, 1 active, 0 dead");
  EXPECT_THAT(mail().claim_many(), IsEmpty()) << "and the lease is taken back";
  EXPECT_EQ(counts_of(mail().stats()), "0 scheduled, 26 ready, 0 active, 0 dead");

  mail().resume();
  const auto jobs = mail().claim_many();
  EXPECT_EQ(counts_of(mail().stats()), "0 scheduled, 0 ready, 26 active, 0 dead");
  const auto ids = ids_of(jobs);
  EXPECT_EQ(std::set<JobId>(ids.begin(), ids.end()).size(), 26U);
  EXPECT_THAT(mail().ack(held_of(jobs)), ::testing::Each(LeaseOutcome::acked));
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  EXPECT_EQ(mail().stats().totals.lost_leases, 1U);
}

}  // namespace
}  // namespace duly::testing
