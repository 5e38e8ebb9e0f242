#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum LeaseOutcome;

class EngineLease : public EngineContract {
 protected:
  /// What the four calls under a lease say of it.
  std::vector<LeaseOutcome> try_all(const Held& held) {
    return {mail().ack(held), mail().extend(held, 60s), mail().fail(held, {.error = "late"}),
            mail().release(held)};
  }
  static auto all_lost() { return ElementsAre(lease_lost, lease_lost, lease_lost, lease_lost); }
};
INSTANTIATE_TEST_SUITE_P(Engines, EngineLease, every_engine(), kind_name);

TEST_P(EngineLease, AnAckedJobLeavesTheQueue) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({.id = "a"_id});

  EXPECT_EQ(mail().ack(job), acked);

  EXPECT_FALSE(mail().find("a"_id));
  EXPECT_EQ(mail().stats().active, 0U);
  EXPECT_EQ(mail().stats().totals.acked, 1U);
}

TEST_P(EngineLease, ASecondAckChangesNothing) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({});
  mail().ack(job);

  EXPECT_EQ(mail().ack(job), lease_lost);
  EXPECT_EQ(mail().stats().totals.acked, 1U);
}

TEST_P(EngineLease, AnUnknownTokenChangesNothing) {
  NEEDS(has_leases);
  put_and_claim({.id = "a"_id}, 10s);

  EXPECT_THAT(try_all({"a"_id, LeaseToken("unknown")}), all_lost());

  EXPECT_EQ(mail().state_of("a"_id), JobState::active);
  EXPECT_EQ(mail().info("a"_id).failures, 0U);
  clock().advance(10s);
  EXPECT_EQ(mail().recover(), 1U);
}

TEST_P(EngineLease, ATokenIsNoProofForAJobOfAnotherClaim) {
  NEEDS(has_leases);
  const ActiveJob first = put_and_claim({.id = "a"_id}, 10s);
  const ActiveJob second = put_and_claim({.id = "b"_id}, 10s);

  EXPECT_THAT(try_all({second.id, first.token}), all_lost());

  EXPECT_EQ(mail().state_of("b"_id), JobState::active);
  EXPECT_THAT(mail().ack(held_of({first, second})), ElementsAre(acked, acked));
}

TEST_P(EngineLease, ATokenIsNoProofForAJobThatWaits) {
  NEEDS(has_leases);
  mail().put({.delay = 1s, .id = "b"_id});
  const ActiveJob job = put_and_claim({.id = "a"_id});

  EXPECT_THAT(try_all({"b"_id, job.token}), all_lost());

  EXPECT_EQ(mail().state_of("b"_id), JobState::scheduled);
}

TEST_P(EngineLease, AckWithAnExpiredLeaseIsRefusedAndChangesNothing) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({}, 10s);
  clock().advance(11s);
  mail().recover();

  EXPECT_EQ(mail().ack(job), lease_lost);
  EXPECT_EQ(mail().state_of(job.id), JobState::ready);
}

TEST_P(EngineLease, AnAckBehindTheLeaseEndCountsWhileNobodyHasTakenTheJobBack) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({}, 10s);
  clock().advance(1h);

  EXPECT_EQ(mail().ack(job), acked);
  EXPECT_EQ(mail().recover(), 0U);
}

TEST_P(EngineLease, B08_AStalledWorkerCannotEndAJobThatWasGivenToAnotherOne) {
  NEEDS(has_leases);
  mail().put({.id = "a"_id});
  const ActiveJob stalled = mail().claim_one(2s);
  clock().advance(3s);
  const ActiveJob current = mail().claim_one(30s);

  EXPECT_THAT(try_all(SyncQueue::held(stalled)), all_lost());

  EXPECT_EQ(mail().info("a"_id).failures, 0U);
  EXPECT_EQ(mail().ack(current), acked);
  EXPECT_EQ(mail().stats().totals.acked, 1U);
}

TEST_P(EngineLease, AJobThatCameBackIsNotThatOfTheOldTokenEither) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({.id = "a"_id});
  mail().release(job);

  EXPECT_THAT(try_all(SyncQueue::held(job)), all_lost());
  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
}

TEST_P(EngineLease, AnAckOfPartOfAClaimLeavesTheOthersUnderTheirLease) {
  NEEDS(has_leases);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id}, {.id = "c"_id}});
  const auto jobs = mail().claim_many(3, 10s);

  EXPECT_EQ(mail().ack(jobs[1]), acked);

  EXPECT_FALSE(mail().find("b"_id));
  clock().advance(10s);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("a"_id, "c"_id));
}

TEST_P(EngineLease, TheLastAckEndsTheLease) {
  NEEDS(has_leases);
  mail().put_all({{}, {}});
  const auto jobs = mail().claim_many(2, 10s);

  mail().ack(jobs[1]);
  mail().ack(jobs[0]);

  EXPECT_FALSE(mail().claim(ClaimRequest{}).next_in);
}

TEST_P(EngineLease, AClaimCanBeAckedInAnotherOrder) {
  NEEDS(has_leases);
  mail().put_all({{}, {}, {}});
  const auto jobs = mail().claim_many();

  EXPECT_THAT(mail().ack(held_of({jobs[2], jobs[0], jobs[1]})), ElementsAre(acked, acked, acked));
  EXPECT_EQ(mail().stats().active, 0U);
}

TEST_P(EngineLease, ABatchAnswersEachRowInOrder) {
  NEEDS(has_leases);
  mail().put_all({{}, {}, {}});
  const ActiveJob first = mail().claim_one();
  const auto others = mail().claim_many();
  const Held wrong{others[0].id, first.token};

  const auto outcomes = mail().ack({SyncQueue::held(first), wrong, SyncQueue::held(others[1]),
                                    SyncQueue::held(first), SyncQueue::held(others[0])});

  EXPECT_THAT(outcomes, ElementsAre(acked, lease_lost, acked, lease_lost, acked));
  EXPECT_EQ(mail().stats().totals.acked, 3U);
}

TEST_P(EngineLease, AnAckForgetsWhatWentWrongBefore) {
  NEEDS(has_leases);
  put_and_claim({.id = "a"_id}, 10s);
  clock().advance(10s);
  mail().ack(mail().claim_one());

  mail().put({.id = "a"_id});

  EXPECT_EQ(mail().claim_one().attempt, 1U);
  EXPECT_EQ(mail().info("a"_id).lost_leases, 0U);
}

TEST_P(EngineLease, AReleasedJobIsReadyAtOnceAndNoAttemptIsCharged) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({.id = "a"_id});
  clock().advance(5s);

  EXPECT_EQ(mail().release(job), released);

  EXPECT_EQ(mail().info("a"_id).due_at, clock().now());
  EXPECT_EQ(mail().info("a"_id).failures, 0U);
  EXPECT_EQ(mail().claim_one().attempt, 1U);
  EXPECT_EQ(mail().stats().totals.released, 1U);
}

TEST_P(EngineLease, AReleaseOfPartOfAClaimLeavesTheOthersUnderTheirLease) {
  NEEDS(has_leases);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id}});
  const auto jobs = mail().claim_many();

  const auto outcomes = mail().release(
      {SyncQueue::held(jobs[0]), {"b"_id, LeaseToken("wrong")}, SyncQueue::held(jobs[0])});

  EXPECT_THAT(outcomes, ElementsAre(released, lease_lost, lease_lost));
  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
  EXPECT_EQ(mail().ack(jobs[1]), acked);
}

TEST_P(EngineLease, AnExtendedLeaseEndsSoLongAfterTheExtension) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({}, 10s);
  clock().advance(9s);

  EXPECT_EQ(mail().extend(job, 10s), extended);

  clock().advance(9'999ms);
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  clock().advance(1ms);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre(job.id));
}

TEST_P(EngineLease, AnExtensionNeverShortensALease) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({}, 30s);

  EXPECT_EQ(mail().extend(job, 1s), extended);

  clock().advance(29'999ms);
  EXPECT_EQ(mail().recover(), 0U);
  EXPECT_EQ(mail().ack(job), acked);
}

TEST_P(EngineLease, AnExtensionHoldsForTheWholeClaim) {
  NEEDS(has_leases);
  mail().put_all({{}, {}});
  const auto jobs = mail().claim_many(2, 10s);

  mail().extend(jobs[0], 60s);

  clock().advance(30s);
  EXPECT_EQ(mail().recover(), 0U);
  EXPECT_EQ(mail().ack(jobs[1]), acked);
}

TEST_P(EngineLease, AnExtensionIsNotForJobsOfThatClaimWithALengthOfTheirOwn) {
  NEEDS(has_lease_lengths);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id, .lease = 5s}});
  const auto jobs = mail().claim_many(2, 10s);

  mail().extend(jobs[0], 60s);

  clock().advance(5s);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("b"_id));
}

TEST_P(EngineLease, ExtensionsInABatchAreAnsweredInOrder) {
  NEEDS(has_leases);
  mail().put_all({{}, {}});
  const ActiveJob first = mail().claim_one(10s);
  const ActiveJob second = mail().claim_one(10s);

  const auto outcomes = mail().extend({{SyncQueue::held(first), 60s},
                                       {{second.id, first.token}, 60s},
                                       {SyncQueue::held(second), 20s}});

  EXPECT_THAT(outcomes, ElementsAre(extended, lease_lost, extended));
  clock().advance(20s);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre(second.id));
}

}  // namespace
}  // namespace duly::testing
