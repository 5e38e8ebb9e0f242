#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EnginePut : public EngineContract {
 protected:
  static std::vector<PutOutcome> outcomes_of(const std::vector<PutResult>& results) {
    std::vector<PutOutcome> outcomes;
    for (const PutResult& result : results) outcomes.push_back(result.outcome);
    return outcomes;
  }
  static constexpr auto created = PutOutcome::created;
  static constexpr auto exists = PutOutcome::exists;
  static constexpr auto refused = PutOutcome::refused;
};
INSTANTIATE_TEST_SUITE_P(Engines, EnginePut, every_engine(), kind_name);

TEST_P(EnginePut, AJobWithoutADelayIsReadyAtOnce) {
  NEEDS(has_ids);
  const PutResult result = mail().put({.type = "welcome", .id = "a"_id});

  EXPECT_EQ(result.id, "a"_id);
  EXPECT_EQ(result.outcome, created);
  EXPECT_EQ(result.due_at, clock().now());
  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
}

TEST_P(EnginePut, ADelayIsAddedToTheMillisecondOfThePut) {
  NEEDS(has_ids);
  clock().advance(1'234'567us);

  const PutResult result = mail().put({.delay = 10s, .id = "a"_id});

  EXPECT_EQ(result.due_at, clock().now() + 10s);
  EXPECT_EQ(mail().info("a"_id).due_at, clock().now() + 10s);
  EXPECT_EQ(mail().info("a"_id).put_at, clock().now());
  EXPECT_EQ(mail().state_of("a"_id), JobState::scheduled);
}

TEST_P(EnginePut, B16_LongDelaysAreKeptExactlyAndDoNotFire) {
  NEEDS(has_ids);
  const SystemTime put_at = clock().now();
  const std::vector<std::int64_t> delays{2'147'483'647,      2'147'483'648,  4'294'967'295,
                                         4'294'967'296,      31'536'000'000, 3'153'600'000'000,
                                         Limits::delay / 1ms};
  std::vector<JobId> ids;
  for (const std::int64_t delay : delays) {
    ids.push_back(mail().put({.delay = Milliseconds{delay}}).id);
  }
  clock().advance(60s);

  EXPECT_THAT(mail().claim_many(), IsEmpty());
  for (std::size_t i = 0; i < delays.size(); ++i) {
    EXPECT_EQ(mail().info(ids[i]).due_at, put_at + Milliseconds{delays[i]});
    EXPECT_EQ(mail().state_of(ids[i]), JobState::scheduled);
  }
}

TEST_P(EnginePut, B19_DueTimesKeepTheirMillisecondToTheYear9999) {
  NEEDS(has_ids);
  for (const Milliseconds before_the_end : {0ms, 1ms, 12'345'678'901ms}) {
    const SystemTime due_at = Limits::last_due_at - before_the_end;

    const PutResult result = mail().put({.due_at = due_at});

    EXPECT_EQ(result.due_at, due_at);
    EXPECT_EQ(mail().info(result.id).due_at, due_at);
  }
}

TEST_P(EnginePut, B17_ADueTimeInThePastIsReadyAndComesBeforeLaterOnes) {
  mail().put({.id = "now"_id});
  mail().put({.due_at = clock().now() - 1h, .id = "hour-ago"_id});
  mail().put({.due_at = SystemTime{}, .id = "zero"_id});

  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("zero"_id, "hour-ago"_id, "now"_id));
}

TEST_P(EnginePut, ADueTimeBeyondTheYear9999IsRefusedAndNothingIsStored) {
  NEEDS(has_ids);
  const PutResult result = mail().put({.due_at = Limits::last_due_at + 1ms, .id = "a"_id});

  EXPECT_EQ(result.outcome, refused);
  EXPECT_EQ(result.error.value().code(), ErrorCode::invalid_argument);
  EXPECT_FALSE(mail().find("a"_id));
  EXPECT_EQ(mail().stats().totals.put, 0U);
}

TEST_P(EnginePut, EveryFieldOfAJobIsKept) {
  NEEDS(has_ids);
  const NewJob job{
      .type = "welcome",
      .payload = "bytes",
      .delay = 5s,
      .id = "a"_id,
      .lease = 7s,
      .timeout = 11s,
      .max_attempts = 3,
      .backoff = {
          .kind = Backoff::Kind::fixed, .base = 2s, .cap = 4s, .factor = 1.5, .jitter = 0.25}};

  mail().put(job);

  const JobInfo info = mail().info("a"_id);
  EXPECT_EQ(info.queue, mail().name());
  EXPECT_EQ(info.type, job.type);
  EXPECT_EQ(info.payload, job.payload);
  EXPECT_EQ(info.lease, job.lease);
  EXPECT_EQ(info.timeout, job.timeout);
  EXPECT_EQ(info.max_attempts, job.max_attempts);
  EXPECT_EQ(info.backoff, job.backoff);
  EXPECT_EQ(info.failures, 0U);
  EXPECT_EQ(info.lost_leases, 0U);
  EXPECT_EQ(info.last_error, "");
  EXPECT_FALSE(info.last_failed_at || info.died_at || info.dead_reason);
}

TEST_P(EnginePut, AJobThatBringsNoPolicyHasTheDefaultsOfNewJob) {
  NEEDS(has_ids);
  const NewJob defaults{};

  mail().put({.id = "a"_id});

  const JobInfo info = mail().info("a"_id);
  EXPECT_EQ(info.lease, defaults.lease);
  EXPECT_EQ(info.timeout, defaults.timeout);
  EXPECT_EQ(info.max_attempts, defaults.max_attempts);
  EXPECT_EQ(info.backoff, defaults.backoff);
}

TEST_P(EnginePut, AWaitingJobOfThisIdStaysAsItWas) {
  NEEDS(has_ids);
  const auto due_at = mail().put({.payload = "first", .delay = 10s, .id = "a"_id}).due_at;

  const PutResult again = mail().put({.payload = "second", .delay = 1s, .id = "a"_id});

  EXPECT_EQ(again.outcome, exists);
  EXPECT_EQ(again.due_at, due_at);
  EXPECT_EQ(mail().info("a"_id).payload, "first");
  EXPECT_EQ(mail().info("a"_id).due_at, due_at);
  EXPECT_EQ(mail().stats().totals.put, 1U);
}

TEST_P(EnginePut, AnActiveJobOfThisIdStaysActive) {
  NEEDS(has_leases);
  const ActiveJob job = put_and_claim({.id = "a"_id});

  const PutResult again = mail().put({.id = "a"_id});

  EXPECT_EQ(again.outcome, exists);
  EXPECT_FALSE(again.due_at);
  EXPECT_EQ(mail().state_of("a"_id), JobState::active);
  EXPECT_EQ(mail().ack(job), LeaseOutcome::acked);
}

TEST_P(EnginePut, ADeadJobOfThisIdStaysDead) {
  NEEDS(has_leases);
  put_and_kill({.id = "a"_id});

  const PutResult again = mail().put({.id = "a"_id});

  EXPECT_EQ(again.outcome, exists);
  EXPECT_FALSE(again.due_at);
  EXPECT_EQ(mail().state_of("a"_id), JobState::dead);
}

TEST_P(EnginePut, AnIdIsFreeAgainAfterItsJobHasLeft) {
  NEEDS(has_leases);
  mail().ack(put_and_claim({.id = "acked"_id}));
  mail().put({.id = "cancelled"_id});
  mail().cancel("cancelled"_id);
  put_and_kill({.id = "purged"_id});
  mail().purge("purged"_id);

  for (const JobId& id : {"acked"_id, "cancelled"_id, "purged"_id}) {
    EXPECT_EQ(mail().put({.id = id}).outcome, created);
    EXPECT_EQ(mail().info(id).failures, 0U);
    EXPECT_EQ(mail().info(id).last_error, "");
  }
}

TEST_P(EnginePut, B44_ABatchAnswersEachRowInOrder) {
  NEEDS(has_leases);
  const auto before = mail().put({.delay = 7s, .id = "old"_id});
  put_and_claim({.id = "active"_id});

  const auto results = mail().put_all({{.delay = 3s, .id = "new"_id},
                                       {.delay = 1s, .id = "old"_id},
                                       {.due_at = Limits::last_due_at + 1ms, .id = "wrong"_id},
                                       {.id = "active"_id},
                                       {.due_at = clock().now() + 4s, .id = "absolute"_id}});

  EXPECT_THAT(outcomes_of(results), ElementsAre(created, exists, refused, exists, created));
  EXPECT_THAT(ids_of(results),
              ElementsAre("new"_id, "old"_id, "wrong"_id, "active"_id, "absolute"_id));
  EXPECT_EQ(results[0].due_at, clock().now() + 3s);
  EXPECT_EQ(results[1].due_at, before.due_at);
  EXPECT_FALSE(results[2].due_at);
  EXPECT_FALSE(results[3].due_at);
  EXPECT_EQ(results[4].due_at, clock().now() + 4s);
  EXPECT_EQ(mail().stats().totals.put, 4U);
}

TEST_P(EnginePut, B44_ARepeatedBatchCreatesNoDoubles) {
  std::vector<NewJob> jobs;
  for (int i = 0; i < 250; ++i) {
    jobs.push_back({.delay = 1s, .id = JobId("job" + std::to_string(i))});
  }
  mail().put_all(jobs);

  const auto again = mail().put_all(jobs);

  EXPECT_THAT(outcomes_of(again), ::testing::Each(exists));
  EXPECT_EQ(mail().stats().scheduled, 250U);
  EXPECT_EQ(mail().stats().totals.put, 250U);
}

TEST_P(EnginePut, TheSameIdTwiceInABatchIsOneJobAndTheFirstCounts) {
  NEEDS(has_ids);
  const auto results = mail().put_all({{.payload = "first", .delay = 2s, .id = "a"_id},
                                       {.payload = "second", .delay = 1s, .id = "a"_id}});

  EXPECT_THAT(outcomes_of(results), ElementsAre(created, exists));
  EXPECT_EQ(results[1].due_at, clock().now() + 2s);
  EXPECT_EQ(mail().info("a"_id).payload, "first");
  EXPECT_EQ(mail().stats().scheduled, 1U);
}

TEST_P(EnginePut, TheSameIdTwiceInABatchShowsTheDueTimeOfTheJobThatWasThere) {
  NEEDS(has_leases);
  const auto there = mail().put({.delay = 7s, .id = "waiting"_id});
  put_and_claim({.id = "active"_id});

  const auto results = mail().put_all({{.delay = 1s, .id = "waiting"_id},
                                       {.delay = 2s, .id = "waiting"_id},
                                       {.delay = 1s, .id = "active"_id},
                                       {.delay = 2s, .id = "active"_id}});

  EXPECT_THAT(outcomes_of(results), ::testing::Each(exists));
  EXPECT_EQ(results[0].due_at, there.due_at);
  EXPECT_EQ(results[1].due_at, there.due_at);
  EXPECT_FALSE(results[2].due_at);
  EXPECT_FALSE(results[3].due_at);
}

TEST_P(EnginePut, AWrongRowDoesNotTakeTheIdFromTheNextOne) {
  NEEDS(has_ids);
  const auto results = mail().put_all(
      {{.due_at = Limits::last_due_at + 1ms, .id = "a"_id}, {.delay = 1s, .id = "a"_id}});

  EXPECT_THAT(outcomes_of(results), ElementsAre(refused, created));
  EXPECT_EQ(mail().info("a"_id).due_at, clock().now() + 1s);
}

TEST_P(EnginePut, AllOrNothingStoresAllOfANewBatch) {
  const auto results =
      mail().put_all({{.id = "a"_id}, {.delay = 1s, .id = "b"_id}}, PutMode::all_or_nothing);

  EXPECT_THAT(outcomes_of(results), ElementsAre(created, created));
  EXPECT_EQ(mail().stats().totals.put, 2U);
}

TEST_P(EnginePut, B44_AllOrNothingStoresNothingBesideAJobThatExists) {
  NEEDS(has_ids);
  const auto there = mail().put({.delay = 9s, .id = "old"_id});

  const auto results =
      mail().put_all({{.id = "a"_id}, {.id = "old"_id}, {.id = "b"_id}}, PutMode::all_or_nothing);

  EXPECT_THAT(outcomes_of(results), ElementsAre(refused, exists, refused));
  EXPECT_EQ(results[0].error.value().code(), ErrorCode::invalid_argument);
  EXPECT_FALSE(results[0].due_at);
  EXPECT_EQ(results[1].due_at, there.due_at);
  EXPECT_FALSE(mail().find("a"_id) || mail().find("b"_id));
  EXPECT_EQ(mail().stats().totals.put, 1U);
}

TEST_P(EnginePut, B44_AllOrNothingStoresNothingBesideAWrongRow) {
  const auto results =
      mail().put_all({{.id = "a"_id}, {.due_at = Limits::last_due_at + 1ms, .id = "b"_id}},
                     PutMode::all_or_nothing);

  EXPECT_THAT(outcomes_of(results), ElementsAre(refused, refused));
  EXPECT_EQ(mail().stats().totals.put, 0U);
}

TEST_P(EnginePut, AllOrNothingStoresNothingOfABatchWithTheSameIdTwice) {
  NEEDS(has_ids);
  const auto results = mail().put_all({{.delay = 1s, .id = "a"_id}, {.delay = 2s, .id = "a"_id}},
                                      PutMode::all_or_nothing);

  EXPECT_THAT(outcomes_of(results), ElementsAre(refused, exists));
  EXPECT_FALSE(results[1].due_at);
  EXPECT_FALSE(mail().find("a"_id));
}

TEST_P(EnginePut, QueuesDoNotSeeEachOthersJobs) {
  NEEDS(has_ids);
  mail().put({.payload = "letter", .id = "a"_id});

  EXPECT_EQ(sms().put({.payload = "text", .id = "a"_id}).outcome, created);
  EXPECT_EQ(mail().info("a"_id).payload, "letter");
  EXPECT_EQ(sms().info("a"_id).payload, "text");
  EXPECT_THAT(mail().claim_many(), SizeIs(1));
  EXPECT_THAT(sms().claim_many(), SizeIs(1));
}

}  // namespace
}  // namespace duly::testing
