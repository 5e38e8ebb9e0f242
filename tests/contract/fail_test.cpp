#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;
using enum LeaseOutcome;

class EngineFail : public EngineContract {
 protected:
  /// Fails a job so many times, each at its due time; the waits between.
  std::vector<Milliseconds> waits(const NewJob& job, int failures) {
    const JobId id = mail().put(job).id;
    std::vector<Milliseconds> waits;
    for (int i = 0; i < failures; ++i) {
      EXPECT_EQ(mail().fail(mail().claim_one()), failed);
      waits.push_back(mail().info(id).due_at.value() - clock().now());
      clock().advance(waits.back());
    }
    return waits;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, EngineFail, every_engine(), kind_name);

TEST_P(EngineFail, AFailedJobWaitsForItsBackoffAndRunsAgain) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({.id = "a"_id, .backoff = {.base = 10s, .jitter = 0}});
  clock().advance(3s);

  EXPECT_EQ(mail().fail(job, {.error = "broken"}), failed);

  const JobInfo info = mail().info("a"_id);
  EXPECT_EQ(info.state, JobState::scheduled);
  EXPECT_EQ(info.due_at, clock().now() + 10s);
  EXPECT_EQ(info.failures, 1U);
  EXPECT_EQ(info.last_error, "broken");
  EXPECT_EQ(info.last_failed_at, clock().now());
  clock().advance(9'999ms);
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  clock().advance(1ms);
  EXPECT_EQ(mail().claim_one().attempt, 2U);
}

TEST_P(EngineFail, AnExponentialBackoffGrowsToItsCap) {
  NEEDS(has_leases);
  EXPECT_THAT(waits({.backoff = {.base = 1s, .cap = 60s, .factor = 3, .jitter = 0}}, 6),
              ElementsAre(1s, 3s, 9s, 27s, 60s, 60s));
}

TEST_P(EngineFail, AFactorWithAFractionIsCutToWholeMilliseconds) {
  NEEDS(has_leases);
  EXPECT_THAT(waits({.backoff = {.base = 1s, .factor = 1.5, .jitter = 0}}, 5),
              ElementsAre(1'000ms, 1'500ms, 2'250ms, 3'375ms, 5'062ms));
}

TEST_P(EngineFail, AFactorOfOneIsTheBaseEachTime) {
  NEEDS(has_leases);
  EXPECT_THAT(waits({.backoff = {.base = 7s, .factor = 1, .jitter = 0}}, 3),
              ElementsAre(7s, 7s, 7s));
}

TEST_P(EngineFail, ACapOfZeroIsThirtyDays) {
  NEEDS(has_leases);
  EXPECT_THAT(waits({.backoff = {.base = 1s, .cap = 0ms, .factor = 1'000'000, .jitter = 0}}, 4),
              ElementsAre(1s, 1'000'000s, 720h, 720h));
}

TEST_P(EngineFail, AFixedBackoffIsTheBaseEachTimeWhateverItsCap) {
  NEEDS(has_leases);
  const Backoff backoff{
      .kind = Backoff::Kind::fixed, .base = 5s, .cap = 1s, .factor = 9, .jitter = 0};

  EXPECT_THAT(waits({.backoff = backoff}, 4), ElementsAre(5s, 5s, 5s, 5s));
}

TEST_P(EngineFail, ABaseOfZeroIsReadyAtOnce) {
  NEEDS(has_leases);
  EXPECT_THAT(waits({.backoff = {.base = 0ms}}, 3), ElementsAre(0s, 0s, 0s));
}

TEST_P(EngineFail, JitterOnlyAddsAndAtMostItsPart) {
  NEEDS(has_leases);
  std::vector<NewJob> jobs(100, NewJob{.backoff = {.base = 10s, .jitter = 0.5}});
  mail().put_all(std::move(jobs));
  std::vector<FailRow> rows;
  for (const Held& held : held_of(mail().claim_many())) rows.push_back({held, {}});

  mail().fail(std::move(rows));

  const auto waiting = mail().list(JobState::scheduled).jobs;
  ASSERT_THAT(waiting, SizeIs(100));
  for (const JobInfo& job : waiting) {
    EXPECT_THAT(job.due_at.value() - clock().now(), AllOf(Ge(10s), Le(15s)));
  }
}

TEST_P(EngineFail, TheLastOfItsAttemptsKillsTheJob) {
  NEEDS(has_leases);
  mail().put({.id = "a"_id, .max_attempts = 3, .backoff = {.base = 0ms}});

  EXPECT_EQ(mail().fail(mail().claim_one()), failed);
  EXPECT_EQ(mail().fail(mail().claim_one()), failed);
  EXPECT_EQ(mail().fail(mail().claim_one()), dead);

  EXPECT_EQ(mail().info("a"_id).dead_reason, DeadReason::failed);
  EXPECT_EQ(mail().info("a"_id).failures, 3U);
}

TEST_P(EngineFail, OneAttemptMeansThatTheFirstFailureIsTheLast) {
  NEEDS(has_leases);
  EXPECT_EQ(mail().fail(put_and_claim({.max_attempts = 1})), dead);
}

TEST_P(EngineFail, GivingUpKillsTheJobWhateverAttemptsAreLeft) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({.id = "a"_id, .max_attempts = 20});

  EXPECT_EQ(mail().fail(job, {.error = "no such customer", .then = Failure::Then::give_up}), dead);

  EXPECT_EQ(mail().info("a"_id).dead_reason, DeadReason::given_up);
  EXPECT_EQ(mail().info("a"_id).last_error, "no such customer");
}

TEST_P(EngineFail, ADeadJobKeepsAllThatIsKnownOfIt) {
  NEEDS(has_leases);
  const SystemTime put_at = clock().now();
  const ActiveJob job =
      put_and_claim({.type = "welcome", .payload = "bytes", .id = "a"_id, .max_attempts = 1});
  clock().advance(7s);

  mail().fail(job, {.error = "broken"});
  clock().advance(7s);

  const JobInfo info = mail().info("a"_id);
  EXPECT_EQ(info.state, JobState::dead);
  EXPECT_EQ(info.type, "welcome");
  EXPECT_EQ(info.payload, "bytes");
  EXPECT_EQ(info.put_at, put_at);
  EXPECT_EQ(info.died_at, put_at + 7s);
  EXPECT_EQ(info.last_failed_at, put_at + 7s);
  EXPECT_EQ(info.last_error, "broken");
  EXPECT_EQ(info.failures, 1U);
  EXPECT_FALSE(info.due_at);
}

TEST_P(EngineFail, RetryInTakesThePlaceOfTheBackoffExactly) {
  NEEDS(has_leases);
  const ActiveJob job =
      put_and_claim({.id = "a"_id, .backoff = {.base = 1h, .factor = 9, .jitter = 1}});

  EXPECT_EQ(mail().fail(job, {.retry_in = 1'234ms}), failed);

  EXPECT_EQ(mail().info("a"_id).due_at, clock().now() + 1'234ms);
}

TEST_P(EngineFail, RetryInZeroIsReadyAtOnce) {
  NEEDS(has_leases);
  mail().fail(put_and_claim({.id = "a"_id}), {.retry_in = 0ms});

  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
}

TEST_P(EngineFail, RetryInIsKeptForAHundredYears) {
  NEEDS(has_leases);
  mail().fail(put_and_claim({.id = "a"_id}), {.retry_in = Limits::delay});

  EXPECT_EQ(mail().info("a"_id).due_at, clock().now() + Limits::delay);
}

TEST_P(EngineFail, RetryInGivesNoAttemptMoreThanTheLast) {
  NEEDS(has_leases);
  EXPECT_EQ(mail().fail(put_and_claim({.max_attempts = 1}), {.retry_in = 1s}), dead);
}

TEST_P(EngineFail, OnlyTheLastErrorIsKeptAndOfALongOneItsBegin) {
  NEEDS(has_leases);
  mail().put({.id = "a"_id, .backoff = {.base = 0ms}});
  mail().fail(mail().claim_one(), {.error = "first"});

  mail().fail(mail().claim_one(), {.error = std::string(5'000, 'e')});

  EXPECT_EQ(mail().info("a"_id).last_error, std::string(4'096, 'e'));
}

TEST_P(EngineFail, AnErrorIsBytes) {
  NEEDS(has_leases);
  const std::string error("\xFF\x00\r\n \xED\xA0\x80", 8);

  mail().fail(put_and_claim({.id = "a"_id}), {.error = error});

  EXPECT_EQ(mail().info("a"_id).last_error, error);
}

TEST_P(EngineFail, ABatchAnswersEachRowInOrder) {
  NEEDS(has_leases);
  const ActiveJob retried = put_and_claim({.id = "retried"_id});
  const ActiveJob last = put_and_claim({.id = "last"_id, .max_attempts = 1});
  const ActiveJob given_up = put_and_claim({.id = "given-up"_id});

  const auto outcomes = mail().fail({{SyncQueue::held(last), {.error = "first"}},
                                     {{"retried"_id, last.token}, {.error = "second"}},
                                     {SyncQueue::held(retried), {.error = "third", .retry_in = 5s}},
                                     {SyncQueue::held(given_up), {.then = Failure::Then::give_up}},
                                     {SyncQueue::held(retried), {.error = "fifth"}}});

  EXPECT_THAT(outcomes, ElementsAre(dead, lease_lost, failed, dead, lease_lost));
  EXPECT_EQ(mail().info("last"_id).last_error, "first");
  EXPECT_EQ(mail().info("retried"_id).last_error, "third");
  EXPECT_EQ(mail().info("retried"_id).failures, 1U);
  EXPECT_EQ(mail().info("retried"_id).due_at, clock().now() + 5s);
  EXPECT_EQ(mail().stats().totals.failed, 3U);
  EXPECT_EQ(mail().stats().totals.died, 2U);
}

TEST_P(EngineFail, AFailureOfPartOfAClaimLeavesTheOthersUnderTheirLease) {
  NEEDS(has_leases);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id}});
  const auto jobs = mail().claim_many();

  mail().fail(jobs[0]);

  EXPECT_EQ(mail().ack(jobs[1]), acked);
}

}  // namespace
}  // namespace duly::testing
