#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EngineRecover : public EngineContract {
 protected:
  /// Claims the only ready job and lets its lease end, so many times.
  void lose_leases(int times) {
    for (int i = 0; i < times; ++i) {
      mail().claim_one(10s);
      clock().advance(10s);
      mail().recover();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, EngineRecover, every_engine(), kind_name);

TEST_P(EngineRecover, B02_JobsOfAKilledWorkerCanBeClaimedAgainAtTheirLeaseEnd) {
  NEEDS(has_leases);
  mail().put_all(std::vector<NewJob>(10));
  const auto jobs = mail().claim_many(10, 5s);

  clock().advance(4'999ms);
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  clock().advance(1ms);
  const auto again = mail().claim_many();

  EXPECT_EQ(ids_of(again), ids_of(jobs));
  for (const ActiveJob& job : again) {
    EXPECT_EQ(job.attempt, 2U);
    EXPECT_EQ(mail().info(job.id).lost_leases, 1U);
    EXPECT_EQ(mail().info(job.id).failures, 0U);
    EXPECT_EQ(mail().info(job.id).last_error, "lease lost");
    EXPECT_EQ(mail().info(job.id).last_failed_at, clock().now());
  }
  EXPECT_EQ(mail().stats().totals.lost_leases, 10U);
}

TEST_P(EngineRecover, AJobThatCameBackIsReadySinceTheEndOfItsLease) {
  NEEDS(has_leases);
  put_and_claim({.id = "back"_id}, 10s);
  const SystemTime lease_end = clock().now() + 10s;
  mail().put({.due_at = lease_end - 1ms, .id = "before"_id});
  mail().put({.due_at = lease_end + 1ms, .id = "behind"_id});
  clock().advance(1h);

  EXPECT_EQ(mail().recover(), 1U);

  EXPECT_EQ(mail().info("back"_id).due_at, lease_end);
  EXPECT_EQ(mail().info("back"_id).last_failed_at, lease_end);
  const auto ids = ids_of(mail().claim_many());
  if (harness().capabilities().name == "stream") {  // What lies aside goes first.
    EXPECT_THAT(ids, ElementsAre("back"_id, "before"_id, "behind"_id));
  } else {
    EXPECT_THAT(ids, ElementsAre("before"_id, "back"_id, "behind"_id));
  }
}

TEST_P(EngineRecover, B52_JobsThatOneMoreLostLeaseWouldQuarantineRunOneAtATime) {
  NEEDS(isolates_suspects);
  for (const JobId& id : {"first"_id, "second"_id, "third"_id}) mail().put({.id = id});
  for (int lost = 0; lost < 2; ++lost) {
    ASSERT_THAT(mail().claim_many(10, 10s), SizeIs(3));
    clock().advance(10s);
    mail().recover();
  }
  mail().put({.id = "innocent"_id});

  const auto together = mail().claim_many(10, 10s);

  ASSERT_EQ(ids_of(together), (std::vector{"first"_id, "innocent"_id}));
  EXPECT_NE(together[0].token, together[1].token);
  EXPECT_EQ(mail().info("second"_id).state, JobState::scheduled);
  clock().advance(1s);
  EXPECT_THAT(mail().claim_many(10, 10s), IsEmpty());
  mail().ack(together[0]);
  clock().advance(1s);
  EXPECT_EQ(ids_of(mail().claim_many(10, 10s)), std::vector{"second"_id});
  clock().advance(10s);
  EXPECT_EQ(ids_of(mail().claim_many(10, 10s)), (std::vector{"third"_id, "innocent"_id}));
  EXPECT_EQ(mail().info("second"_id).dead_reason, DeadReason::quarantined);
}

TEST_P(EngineRecover, NothingToTakeBackIsZero) {
  NEEDS(has_leases);
  EXPECT_EQ(mail().recover(), 0U);
  put_and_claim({}, 10s);
  EXPECT_EQ(mail().recover(), 0U);
}

TEST_P(EngineRecover, AboutAPieceOfJobsComesBackAtOnce) {
  NEEDS(has_leases);
  for (int claim = 0; claim < 6; ++claim) {
    mail().put_all(std::vector<NewJob>(100));
    mail().claim_many(100, 10s);
  }
  clock().advance(10s);

  EXPECT_EQ(mail().recover(), 300U);
  EXPECT_EQ(mail().recover(), 300U);
  EXPECT_EQ(mail().recover(), 0U);
  EXPECT_EQ(mail().stats().ready, 600U);
}

TEST_P(EngineRecover, AClaimTakesBackNoMoreThanAboutAPiece) {
  NEEDS(has_leases);
  for (int claim = 0; claim < 3; ++claim) {
    mail().put_all(std::vector<NewJob>(250));
    mail().claim_many(250, 10s);
  }
  clock().advance(10s);

  const ClaimReply reply = mail().claim(ClaimRequest{.most = 1});

  EXPECT_THAT(reply.jobs, SizeIs(1));
  EXPECT_EQ(mail().stats().totals.lost_leases, 250U);
  EXPECT_EQ(reply.next_in, 0s);
}

TEST_P(EngineRecover, B52_TheThirdLostLeaseQuarantines) {
  NEEDS(has_leases);
  mail().put({.payload = "poison", .id = "a"_id});

  lose_leases(2);
  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
  lose_leases(1);

  const JobInfo info = mail().info("a"_id);
  EXPECT_EQ(info.state, JobState::dead);
  EXPECT_EQ(info.dead_reason, DeadReason::quarantined);
  EXPECT_EQ(info.lost_leases, 3U);
  EXPECT_EQ(info.failures, 0U);
  EXPECT_EQ(info.payload, "poison");
  EXPECT_EQ(info.last_error, "lease lost 3 times");
  EXPECT_EQ(info.died_at, clock().now());
  EXPECT_THAT(mail().claim_many(), IsEmpty());
}

TEST_P(EngineRecover, B52_APoisonJobDoesNotStopTheOthers) {
  NEEDS(has_leases);
  mail().put({.id = "poison"_id});
  mail().put_all(std::vector<NewJob>(20, NewJob{.delay = 1ms}));
  clock().advance(1ms);

  int deliveries = 0;
  for (int round = 0; round < 10; ++round) {
    for (const ActiveJob& job : mail().claim_many(5, 10s)) {
      if (job.id == "poison"_id) {
        ++deliveries;
      } else {
        mail().ack(job);
      }
    }
    clock().advance(10s);
  }

  EXPECT_EQ(deliveries, 3);
  EXPECT_EQ(mail().stats().totals.acked, 20U);
  EXPECT_EQ(mail().state_of("poison"_id), JobState::dead);
}

TEST_P(EngineRecover, FailuresDoNotCountAsLostLeases) {
  NEEDS(has_leases);
  mail().put({.id = "a"_id, .backoff = {.base = 0ms, .jitter = 0}});
  lose_leases(2);
  for (int i = 0; i < 5; ++i) mail().fail(mail().claim_one(), {.error = "broken"});

  const ActiveJob job = mail().claim_one();

  EXPECT_EQ(job.attempt, 8U);
  EXPECT_EQ(mail().info("a"_id).failures, 5U);
  EXPECT_EQ(mail().info("a"_id).lost_leases, 2U);
  EXPECT_EQ(mail().info("a"_id).last_error, "broken");
}

TEST_P(EngineRecover, LostLeasesDoNotCountAsFailures) {
  NEEDS(has_leases);
  mail().put({.id = "a"_id, .max_attempts = 2, .backoff = {.base = 0ms, .jitter = 0}});
  lose_leases(2);

  EXPECT_EQ(mail().fail(mail().claim_one()), LeaseOutcome::failed);
  EXPECT_EQ(mail().fail(mail().claim_one()), LeaseOutcome::dead);

  EXPECT_EQ(mail().info("a"_id).dead_reason, DeadReason::failed);
}

TEST_P(EngineRecover, ALostLeaseBehindAFailureKeepsTheErrorOfTheFailure) {
  NEEDS(has_leases);
  mail().put({.id = "a"_id, .backoff = {.base = 0ms, .jitter = 0}});
  mail().fail(mail().claim_one(), {.error = "broken"});

  lose_leases(1);

  EXPECT_EQ(mail().info("a"_id).last_error, "broken");
  EXPECT_EQ(mail().info("a"_id).lost_leases, 1U);
}

}  // namespace
}  // namespace duly::testing
