#include "tests/contract/engine_contract.h"

// Cancel of active jobs; that of waiting ones is in change_test.cpp.
namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class EngineCancel : public EngineContract {
 protected:
  /// An active job "a" whose cancel was asked for.
  ActiveJob put_claim_and_cancel(NewJob job = {}) {
    job.id = "a"_id;
    const ActiveJob active = put_and_claim(std::move(job));
    EXPECT_EQ(mail().cancel("a"_id), ChangeOutcome::asked);
    return active;
  }
  void expect_gone() {
    EXPECT_FALSE(mail().find("a"_id));
    EXPECT_EQ(mail().stats().totals.cancelled, 1U);
    EXPECT_EQ(mail().stats().active, 0U);
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, EngineCancel, every_engine(), kind_name);

TEST_P(EngineCancel, AnActiveJobStaysActiveUntilItsAttemptEnds) {
  NEEDS(has_leases);
  put_claim_and_cancel();

  EXPECT_EQ(mail().state_of("a"_id), JobState::active);
  EXPECT_EQ(mail().cancel("a"_id), ChangeOutcome::asked);
  EXPECT_EQ(mail().stats().totals.cancelled, 0U);
}

TEST_P(EngineCancel, ExtendTellsIt) {
  NEEDS(has_leases);
  const ActiveJob job = put_claim_and_cancel();

  EXPECT_EQ(mail().extend(job, 1min), LeaseOutcome::cancelled);

  clock().advance(59s);
  EXPECT_EQ(mail().recover(), 0U);
}

TEST_P(EngineCancel, ExtendTellsItOfAllJobsOfTheClaim) {
  NEEDS(has_leases);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id}, {.id = "c"_id}});
  const auto jobs = mail().claim_many();
  mail().cancel({"a"_id, "c"_id});

  const auto results = mail().extend_and_hear({{SyncQueue::held(jobs.at(1)), 1min}});

  EXPECT_EQ(results.at(0).outcome, LeaseOutcome::extended);
  EXPECT_THAT(results.at(0).cancelled, ElementsAre("a"_id, "c"_id));
}

TEST_P(EngineCancel, ExtendTellsNothingOfOtherClaims) {
  NEEDS(has_leases);
  put_claim_and_cancel();
  mail().put({.id = "b"_id});
  const ActiveJob other = mail().claim_one();

  const auto results = mail().extend_and_hear({{SyncQueue::held(other), 1min}});

  EXPECT_EQ(results.at(0).outcome, LeaseOutcome::extended);
  EXPECT_THAT(results.at(0).cancelled, IsEmpty());
}

TEST_P(EngineCancel, AnAckCounts) {
  NEEDS(has_leases);
  const ActiveJob job = put_claim_and_cancel();

  EXPECT_EQ(mail().ack(job), LeaseOutcome::acked);

  EXPECT_FALSE(mail().find("a"_id));
  EXPECT_EQ(mail().stats().totals.acked, 1U);
  EXPECT_EQ(mail().stats().totals.cancelled, 0U);
}

TEST_P(EngineCancel, AFailureDropsTheJob) {
  NEEDS(has_leases);
  const ActiveJob job = put_claim_and_cancel();

  EXPECT_EQ(mail().fail(job, {.error = "broken"}), LeaseOutcome::cancelled);

  expect_gone();
  EXPECT_EQ(mail().stats().totals.failed, 0U);
}

TEST_P(EngineCancel, GivingUpDropsTheJobAndLeavesNoDeadLetter) {
  NEEDS(has_leases);
  const ActiveJob job = put_claim_and_cancel({.max_attempts = 1});

  EXPECT_EQ(mail().fail(job, {.then = Failure::Then::give_up}), LeaseOutcome::cancelled);

  expect_gone();
  EXPECT_EQ(mail().stats().dead, 0U);
}

TEST_P(EngineCancel, AReleaseDropsTheJob) {
  NEEDS(has_leases);
  const ActiveJob job = put_claim_and_cancel();

  EXPECT_EQ(mail().release(job), LeaseOutcome::cancelled);

  expect_gone();
  EXPECT_THAT(mail().claim_many(), IsEmpty());
}

TEST_P(EngineCancel, ALostLeaseDropsTheJob) {
  NEEDS(has_leases);
  const ActiveJob job = put_claim_and_cancel();
  clock().advance(31s);

  EXPECT_THAT(mail().claim_many(), IsEmpty());

  expect_gone();
  EXPECT_EQ(mail().stats().totals.lost_leases, 1U);
  EXPECT_EQ(mail().fail(job), LeaseOutcome::lease_lost);
}

TEST_P(EngineCancel, RecoverCountsADroppedJobAsBack) {
  NEEDS(has_leases);
  put_claim_and_cancel();
  clock().advance(31s);

  EXPECT_EQ(mail().recover(), 1U);
  EXPECT_EQ(mail().recover(), 0U);
  expect_gone();
}

TEST_P(EngineCancel, OtherJobsOfTheClaimGoOn) {
  NEEDS(has_leases);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id}, {.id = "c"_id}});
  const auto jobs = mail().claim_many();
  mail().cancel("b"_id);

  EXPECT_THAT(mail().release(held_of(jobs)),
              ElementsAre(LeaseOutcome::released, LeaseOutcome::cancelled, LeaseOutcome::released));

  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("a"_id, "c"_id));
}

TEST_P(EngineCancel, TheIdIsFreeAgainWithoutTheMark) {
  NEEDS(has_leases);
  mail().fail(put_claim_and_cancel());

  const ActiveJob job = put_and_claim({.id = "a"_id});

  EXPECT_EQ(mail().extend(job, 1min), LeaseOutcome::extended);
  EXPECT_EQ(mail().fail(job, {.retry_in = 0ms}), LeaseOutcome::failed);
}

TEST_P(EngineCancel, AnAckTakesTheMarkAlong) {
  NEEDS(has_leases);
  mail().ack(put_claim_and_cancel());

  const ActiveJob job = put_and_claim({.id = "a"_id});

  EXPECT_EQ(mail().release(job), LeaseOutcome::released);
}

TEST_P(EngineCancel, WhatWentWrongBeforeIsKeptUntilTheEnd) {
  NEEDS(has_leases);
  mail().fail(put_and_claim({.id = "a"_id}), {.error = "broken", .retry_in = 0ms});
  mail().claim_one();
  mail().cancel("a"_id);

  EXPECT_EQ(mail().info("a"_id).failures, 1U);
  EXPECT_EQ(mail().info("a"_id).last_error, "broken");
  EXPECT_EQ(mail().info("a"_id).dead_reason, std::nullopt);
}

}  // namespace
}  // namespace duly::testing
