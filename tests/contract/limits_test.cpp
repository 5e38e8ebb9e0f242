#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using AtLimit = QueueLimits::AtLimit;

class EngineLimits : public EngineContract {
 protected:
  void kill(const std::string& id, std::string payload = {}) {
    put_and_kill({.payload = std::move(payload), .id = JobId(id)});
    clock().advance(1ms);
  }
  JobId put_and_ack(const std::string& id, std::string payload = {}, std::string result = {}) {
    mail().ack(put_and_claim({.payload = std::move(payload), .id = JobId(id)}), std::move(result));
    clock().advance(1ms);
    return JobId(id);
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, EngineLimits, every_engine(), kind_name);

TEST_P(EngineLimits, AreThoseOfTheDocumentationUntilTheyAreSet) {
  NEEDS(has_retention);
  EXPECT_EQ(mail().limits(), QueueLimits{});
  const QueueLimits others{.length = 7,
                           .dead_count = 1,
                           .dead_bytes = 2,
                           .dead_age = 0ms,
                           .dead_at_limit = AtLimit::refuse,
                           .done_age = 1h,
                           .done_count = 3,
                           .done_bytes = 4};
  mail().set_limits(others);
  EXPECT_EQ(mail().limits(), others);
  EXPECT_EQ(sms().limits(), QueueLimits{});
}

TEST_P(EngineLimits, BeyondTheLengthPutsAreRefusedAndSayWhy) {
  mail().set_limits({.length = 3});
  mail().put_all(std::vector<NewJob>(2));

  const auto results = mail().put_all(std::vector<NewJob>(3));

  EXPECT_EQ(results[0].outcome, PutOutcome::created);
  EXPECT_EQ(results[1].outcome, PutOutcome::refused);
  EXPECT_EQ(results[1].error->code(), ErrorCode::unavailable);
  EXPECT_EQ(mail().stats().totals.put, 3U);
  mail().claim_one();
  EXPECT_EQ(mail().put({}).outcome, PutOutcome::created);
  const auto none = mail().put_all(std::vector<NewJob>(2), PutMode::all_or_nothing);
  EXPECT_EQ(none[0].outcome, PutOutcome::refused);
  EXPECT_EQ(mail().stats().ready, 3U);
}

TEST_P(EngineLimits, B55_DeadLettersBeyondTheirCountAreDroppedOldestFirstAndCounted) {
  NEEDS(has_leases);
  mail().set_limits({.dead_count = 3});
  for (const std::string id : {"a", "b", "c", "d", "e"}) kill(id);

  EXPECT_THAT(ids_of(mail().list(JobState::dead).jobs), ElementsAre("e"_id, "d"_id, "c"_id));
  EXPECT_EQ(mail().stats().totals.dead_dropped, 2U);
  EXPECT_EQ(mail().stats().totals.died, 5U);
  EXPECT_FALSE(mail().find("a"_id));
}

TEST_P(EngineLimits, B55_WithRefuseNothingIsLostAndTheQueueSaysWhyItStands) {
  NEEDS(has_leases);
  mail().set_limits({.dead_count = 2, .dead_at_limit = AtLimit::refuse});
  for (const std::string id : {"a", "b"}) kill(id);
  mail().put({.id = "waits"_id});

  EXPECT_TRUE(mail().stats().is_stopped);
  EXPECT_EQ(mail().stats().dead_percent, 100U);
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  EXPECT_EQ(mail().stats().dead, 2U);
  mail().purge("a"_id);
  EXPECT_EQ(mail().stats().dead_percent, 50U);
  EXPECT_FALSE(mail().stats().is_stopped);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("waits"_id));
}

TEST_P(EngineLimits, B56_DeadLettersBeyondTheirBytesAreDropped) {
  NEEDS(has_leases);
  mail().set_limits({.dead_bytes = 10'000});
  for (const std::string id : {"a", "b", "c", "d"}) kill(id, std::string(3'000, 'x'));

  EXPECT_THAT(ids_of(mail().list(JobState::dead).jobs), ElementsAre("d"_id, "c"_id, "b"_id));
  EXPECT_EQ(mail().stats().totals.dead_dropped, 1U);
}

TEST_P(EngineLimits, B56_AReplayedJobRunsOnceMoreWithFreshAttemptsAndItsBytesAreFree) {
  NEEDS(has_leases);
  mail().set_limits({.dead_bytes = 10'000});
  for (const std::string id : {"a", "b", "c"}) kill(id, std::string(3'000, 'x'));
  mail().replay({"a"_id, "b"_id, "c"_id});
  const auto again = mail().claim_many();
  ASSERT_THAT(again, SizeIs(3));
  for (const ActiveJob& job : again) EXPECT_EQ(job.attempt, 1U);
  mail().ack(held_of(again));
  for (const std::string id : {"d", "e", "f"}) kill(id, std::string(3'000, 'x'));

  EXPECT_EQ(mail().stats().dead, 3U);
  EXPECT_EQ(mail().stats().totals.dead_dropped, 0U);
}

TEST_P(EngineLimits, DeadLettersOfAgeAreDroppedWithoutANewOne) {
  NEEDS(has_leases);
  mail().set_limits({.dead_age = 1h});
  kill("old");
  clock().advance(59min);
  kill("young");
  clock().advance(1min);

  EXPECT_THAT(mail().claim_many(), IsEmpty());

  EXPECT_THAT(ids_of(mail().list(JobState::dead).jobs), ElementsAre("young"_id));
}

TEST_P(EngineLimits, DoneJobsAreNotKeptUntilAsked) {
  NEEDS(has_leases);
  put_and_ack("a");
  EXPECT_FALSE(mail().find("a"_id));
  EXPECT_THAT(mail().list(JobState::done).jobs, IsEmpty());
}

TEST_P(EngineLimits, DoneJobsAreKeptWithTheirResultForTheirAge) {
  NEEDS(has_retention);
  mail().set_limits({.done_age = 1h});
  const SystemTime done_at = clock().now();
  put_and_ack("a", "payload", std::string("\0\xFF result", 9));

  const JobInfo job = mail().info("a"_id);
  EXPECT_EQ(job.state, JobState::done);
  EXPECT_EQ(job.done_at, done_at);
  EXPECT_EQ(job.payload, "payload");
  EXPECT_EQ(job.result, std::string("\0\xFF result", 9));
  EXPECT_EQ(job.last_error, "");
  EXPECT_EQ(mail().stats().done, 1U);
  EXPECT_EQ(mail().stats().active, 0U);
  EXPECT_EQ(mail().put({.id = "a"_id}).outcome, PutOutcome::exists);
  EXPECT_EQ(mail().cancel("a"_id), ChangeOutcome::wrong_state);
  EXPECT_EQ(mail().purge("a"_id), ChangeOutcome::wrong_state);

  clock().advance(1h);
  mail().claim_many();
  EXPECT_FALSE(mail().find("a"_id));
  EXPECT_EQ(mail().stats().totals.done_expired, 1U);
  EXPECT_EQ(mail().put({.id = "a"_id}).outcome, PutOutcome::created);
}

TEST_P(EngineLimits, B37_DoneJobsAreBoundedByCountAndByBytes) {
  NEEDS(has_retention);
  mail().set_limits({.done_age = 1h, .done_count = 3, .done_bytes = 10'000});
  for (const std::string id : {"a", "b", "c", "d"}) put_and_ack(id);
  EXPECT_THAT(ids_of(mail().list(JobState::done).jobs), ElementsAre("d"_id, "c"_id, "b"_id));
  for (const std::string id : {"e", "f"}) put_and_ack(id, std::string(6'000, 'x'));
  EXPECT_THAT(ids_of(mail().list(JobState::done).jobs), ElementsAre("f"_id));
  put_and_ack("g", "", std::string(Limits::result, 'x'));
  EXPECT_THAT(mail().list(JobState::done).jobs, IsEmpty());
}

TEST_P(EngineLimits, DoneJobsGoWhenTheQueueKeepsNoneAnyMore) {
  NEEDS(has_retention);
  mail().set_limits({.done_age = 1h});
  put_and_ack("a");
  mail().set_limits({});
  EXPECT_FALSE(mail().find("a"_id));
}

class LeaseLimits : public LeaseContract {};
INSTANTIATE_TEST_SUITE_P(Engines, LeaseLimits, lease_engines(), kind_name);

TEST_P(LeaseLimits, AByteCountThatWasLostDoesNotStayWrong) {
  put_and_kill({.id = "a"_id});
  lease().raw({"HSET", lease().key("meta"), "dead_size", "1000000000"});
  mail().purge("a"_id);
  EXPECT_EQ(lease().raw({"HEXISTS", lease().key("meta"), "dead_size"}).integer, 0);
}

TEST_P(LeaseLimits, AWrongLimitIsRefusedAndNothingIsSet) {
  EXPECT_THAT(lease().call("duly_limits", {"length", "5", "dead_count", "0"}).text,
              ::testing::HasSubstr("dead_count: not a whole number in range, expected 1 .. "));
  EXPECT_EQ(mail().limits(), QueueLimits{});
}

TEST_P(LeaseLimits, APutByHandIntoAFullQueueIsAnErrorThatSaysSo) {
  lease().call("duly_limits", {"length", "1"});
  lease().call("duly_put", {"id", "a"});
  EXPECT_EQ(lease().call("duly_put", {"id", "b"}).text,
            "DULY_FULL queue: 1 waiting jobs, its limit");
}

}  // namespace
}  // namespace duly::testing
