#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum ChangeOutcome;

class EngineChange : public EngineContract {
 protected:
  /// One job of each state, named after it.
  void put_one_of_each_state() {
    put_and_kill({.payload = "before", .id = "dead"_id});
    put_and_claim({.payload = "before", .id = "active"_id}, 1h);
    mail().put({.payload = "before", .id = "ready"_id});
    mail().put({.payload = "before", .delay = 10min, .id = "scheduled"_id});
    clock().advance(1s);
  }
  static std::vector<JobId> one_of_each_state() {
    return {"scheduled"_id, "ready"_id, "active"_id, "dead"_id, "unknown"_id};
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, EngineChange, every_engine(), kind_name);

TEST_P(EngineChange, CancelDropsWaitingJobsAndAsksForActiveOnes) {
  NEEDS(has_leases);
  put_one_of_each_state();

  EXPECT_THAT(mail().cancel(one_of_each_state()),
              ElementsAre(done, done, asked, wrong_state, not_found));

  EXPECT_FALSE(mail().find("scheduled"_id) || mail().find("ready"_id));
  EXPECT_EQ(mail().state_of("active"_id), JobState::active);
  EXPECT_EQ(mail().state_of("dead"_id), JobState::dead);
  EXPECT_EQ(mail().stats().totals.cancelled, 2U);
}

TEST_P(EngineChange, ASecondCancelFindsNothing) {
  NEEDS(has_changes);
  mail().put({.id = "a"_id});

  EXPECT_THAT(mail().cancel({"a"_id, "a"_id}), ElementsAre(done, not_found));
  EXPECT_EQ(mail().cancel("a"_id), not_found);
}

TEST_P(EngineChange, ACancelledJobIsForgottenWithItsErrors) {
  NEEDS(has_leases);
  mail().fail(put_and_claim({.id = "a"_id}), {.error = "broken", .retry_in = 0ms});
  mail().cancel("a"_id);

  mail().put({.id = "a"_id});

  EXPECT_EQ(mail().info("a"_id).last_error, "");
  EXPECT_EQ(mail().claim_one().attempt, 1U);
}

TEST_P(EngineChange, RescheduleMovesWaitingJobsOnly) {
  NEEDS(has_leases);
  put_one_of_each_state();
  std::vector<RescheduleRow> rows;
  for (const JobId& id : one_of_each_state()) rows.push_back({.id = id, .delay = 5s});

  EXPECT_THAT(mail().reschedule(rows),
              ElementsAre(done, done, wrong_state, wrong_state, not_found));

  EXPECT_EQ(mail().info("scheduled"_id).due_at, clock().now() + 5s);
  EXPECT_EQ(mail().info("ready"_id).due_at, clock().now() + 5s);
  EXPECT_EQ(mail().state_of("ready"_id), JobState::scheduled);
  EXPECT_EQ(mail().state_of("active"_id), JobState::active);
  EXPECT_EQ(mail().state_of("dead"_id), JobState::dead);
}

TEST_P(EngineChange, RescheduleTakesDelaysAndDueTimesInOneBatch) {
  NEEDS(has_changes);
  mail().put_all({{.delay = 1h, .id = "a"_id}, {.delay = 1h, .id = "b"_id}});
  const SystemTime yesterday = clock().now() - 24h;

  mail().reschedule({{.id = "a"_id, .due_at = yesterday}, {.id = "b"_id, .delay = 2h}});

  EXPECT_EQ(mail().info("a"_id).due_at, yesterday);
  EXPECT_EQ(mail().info("b"_id).due_at, clock().now() + 2h);
}

TEST_P(EngineChange, ARescheduledJobIsNeverEarly) {
  NEEDS(has_changes);
  mail().put({.id = "a"_id});
  mail().reschedule({.id = "a"_id, .delay = 5s});

  clock().advance(4'999ms);
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  clock().advance(1ms);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("a"_id));
}

TEST_P(EngineChange, B16_RescheduleKeepsLongDelaysExactly) {
  NEEDS(has_changes);
  mail().put({.id = "a"_id});

  mail().reschedule({.id = "a"_id, .delay = Limits::delay});

  EXPECT_EQ(mail().info("a"_id).due_at, clock().now() + Limits::delay);
}

TEST_P(EngineChange, RescheduleBeyondTheYear9999IsRefused) {
  NEEDS(has_changes);
  const auto due_at = mail().put({.delay = 1h, .id = "a"_id}).due_at;

  try {
    mail().reschedule({.id = "a"_id, .due_at = Limits::last_due_at + 1ms});
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(mail().info("a"_id).due_at, due_at);
}

TEST_P(EngineChange, RunNowMakesScheduledJobsDue) {
  NEEDS(has_leases);
  put_one_of_each_state();

  EXPECT_THAT(mail().run_now(one_of_each_state()),
              ElementsAre(done, done, wrong_state, wrong_state, not_found));

  EXPECT_EQ(mail().info("scheduled"_id).due_at, clock().now());
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("ready"_id, "scheduled"_id));
}

TEST_P(EngineChange, RunNowLeavesAReadyJobItsPlace) {
  NEEDS(has_changes);
  const auto due_at = mail().put({.id = "a"_id}).due_at;
  clock().advance(1h);

  EXPECT_EQ(mail().run_now("a"_id), done);

  EXPECT_EQ(mail().info("a"_id).due_at, due_at);
}

TEST_P(EngineChange, RunNowEndsABackoff) {
  NEEDS(has_leases);
  mail().fail(put_and_claim({.id = "a"_id}), {.error = "broken", .retry_in = 1h});

  mail().run_now("a"_id);

  const ActiveJob job = mail().claim_one();
  EXPECT_EQ(job.attempt, 2U);
  EXPECT_EQ(job.due_at, clock().now());
}

TEST_P(EngineChange, EditReplacesThePayloadOfWaitingJobsOnly) {
  NEEDS(has_leases);
  put_one_of_each_state();
  std::vector<EditRow> rows;
  for (const JobId& id : one_of_each_state()) rows.push_back({id, "after"});

  EXPECT_THAT(mail().edit(rows), ElementsAre(done, done, wrong_state, wrong_state, not_found));

  EXPECT_EQ(mail().info("scheduled"_id).payload, "after");
  EXPECT_EQ(mail().info("ready"_id).payload, "after");
  EXPECT_EQ(mail().info("active"_id).payload, "before");
  EXPECT_EQ(mail().info("dead"_id).payload, "before");
}

TEST_P(EngineChange, AnEditLeavesAllButThePayload) {
  NEEDS(has_changes);
  mail().put({.type = "welcome",
              .payload = "before",
              .delay = 5s,
              .id = "a"_id,
              .lease = 7s,
              .max_attempts = 3});
  const JobInfo before = mail().info("a"_id);

  mail().edit("a"_id, std::string("\x00\xFF", 2));

  const JobInfo after = mail().info("a"_id);
  EXPECT_EQ(after.payload, std::string("\x00\xFF", 2));
  EXPECT_EQ(after.type, "welcome");
  EXPECT_EQ(after.put_at, before.put_at);
  EXPECT_EQ(after.due_at, before.due_at);
  EXPECT_EQ(after.lease, 7s);
  EXPECT_EQ(after.max_attempts, 3U);
}

TEST_P(EngineChange, APayloadCanBeEditedToNothing) {
  NEEDS(has_changes);
  mail().put({.type = "welcome", .payload = "before", .id = "a"_id});

  mail().edit("a"_id, "");

  EXPECT_EQ(mail().claim_one().payload, "");
}

}  // namespace
}  // namespace duly::testing
