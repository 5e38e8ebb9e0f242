#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LeaseDamage : public LeaseContract {
 protected:
  /// 101 jobs, "bad" the first of them.
  void put_101() {
    mail().put({.payload = "gone", .due_at = clock().now() - 1s, .id = "bad"_id});
    mail().put_all(std::vector<NewJob>(100));
  }
  void overwrite(const std::string& id, const std::string& record) {
    lease().raw({"HSET", LeaseHarness::key("jobs"), id, record});
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, LeaseDamage, lease_engines(), kind_name);

TEST_P(LeaseDamage, B05_AnUnreadableRecordIsDeadAndTheOthersAreDelivered) {
  put_101();
  overwrite("bad", "not a job");

  EXPECT_THAT(mail().claim_many(), SizeIs(100));

  const JobInfo info = mail().info("bad"_id);
  EXPECT_EQ(info.state, JobState::dead);
  EXPECT_EQ(info.dead_reason, DeadReason::unreadable);
  EXPECT_EQ(info.payload, "not a job");
  EXPECT_EQ(info.last_error, "record is damaged or of an unknown format");
  EXPECT_EQ(info.died_at, clock().now());
}

TEST_P(LeaseDamage, B05_ATruncatedRecordIsDeadWhereverItWasCut) {
  mail().put({.type = "welcome", .payload = "", .id = "whole"_id, .max_attempts = 3});
  const std::string whole = lease().raw({"HGET", LeaseHarness::key("jobs"), "whole"}).text;
  mail().cancel("whole"_id);

  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const std::string id = "cut-" + std::to_string(bytes);
    mail().put({.id = JobId(id)});
    overwrite(id, whole.substr(0, bytes));

    EXPECT_THAT(mail().claim_many(), IsEmpty()) << bytes;
    EXPECT_EQ(mail().info(JobId(id)).dead_reason, DeadReason::unreadable) << bytes;
  }
}

TEST_P(LeaseDamage, B05_ARecordOfAnotherFormatIsDead) {
  mail().put({.id = "bad"_id});
  std::string record = lease().raw({"HGET", LeaseHarness::key("jobs"), "bad"}).text;
  record[6] = '\x02';
  overwrite("bad", record);

  EXPECT_THAT(mail().claim_many(), IsEmpty());
  EXPECT_EQ(mail().info("bad"_id).dead_reason, DeadReason::unreadable);
}

TEST_P(LeaseDamage, B05_ListsAndStatsShowAnUnreadableRecord) {
  put_101();
  overwrite("bad", "not a job");

  EXPECT_THAT(mail().list(JobState::ready, {.most = 250}).jobs, SizeIs(101));
  EXPECT_EQ(mail().stats().ready, 101U);
}

TEST_P(LeaseDamage, B05_AnUnreadableRecordIsShownAsSuch) {
  mail().put_all({{.id = "bad"_id}, {.id = "good"_id}});
  overwrite("bad", "not a job");

  EXPECT_FALSE(mail().info("bad"_id).is_readable);
  EXPECT_TRUE(mail().info("good"_id).is_readable);
  EXPECT_FALSE(mail().list(JobState::ready).jobs.at(0).is_readable);
}

TEST_P(LeaseDamage, B05_AnUnreadableRecordCanBeMovedAndIsDeadWhenDue) {
  mail().put_all({{.id = "bad"_id}, {.id = "good"_id}});
  overwrite("bad", "not a job");

  EXPECT_EQ(mail().reschedule({.id = "bad"_id, .delay = 1h}), ChangeOutcome::done);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("good"_id));
  EXPECT_EQ(mail().run_now("bad"_id), ChangeOutcome::done);
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  EXPECT_EQ(mail().replay("bad"_id), ChangeOutcome::done);
  EXPECT_THAT(mail().claim_many(), IsEmpty());

  EXPECT_EQ(mail().info("bad"_id).dead_reason, DeadReason::unreadable);
  EXPECT_EQ(mail().stats().totals.died, 2U);
}

TEST_P(LeaseDamage, B05_UnreadableRecordsAreReplayedAndPurgedInBulk) {
  put_101();
  overwrite("bad", "not a job");
  mail().claim_many();

  EXPECT_EQ(mail().replay_dead(clock().now()).count, 1U);
  mail().claim_many();
  EXPECT_EQ(mail().purge_dead(clock().now()).count, 1U);

  EXPECT_EQ(mail().stats().dead, 0U);
  EXPECT_EQ(mail().check().found, 0U);
}

TEST_P(LeaseDamage, B05_AnUnreadableRecordIsNotEdited) {
  mail().put({.id = "bad"_id});
  overwrite("bad", "not a job");

  EXPECT_EQ(mail().edit("bad"_id, "payload"), ChangeOutcome::not_found);
  EXPECT_EQ(mail().info("bad"_id).payload, "not a job");
}

TEST_P(LeaseDamage, B05_AnUnreadableRecordCanBeCancelledOrPurged) {
  mail().put_all({{.id = "bad"_id}, {.id = "worse"_id}});
  overwrite("bad", "not a job");
  overwrite("worse", "");

  EXPECT_EQ(mail().cancel("bad"_id), ChangeOutcome::done);
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  EXPECT_EQ(mail().purge("worse"_id), ChangeOutcome::done);
  EXPECT_EQ(mail().stats().dead, 0U);
}

TEST_P(LeaseDamage, B05_ARecordDamagedWhileItsJobIsActiveIsDeadWhenItFails) {
  mail().put_all({{.id = "a"_id}, {.id = "bad"_id}, {.id = "c"_id}});
  std::vector<FailRow> rows;
  for (const Held& held : held_of(mail().claim_many())) rows.push_back({held, {.error = "broken"}});
  overwrite("bad", "x");

  EXPECT_THAT(mail().fail(rows),
              ElementsAre(LeaseOutcome::failed, LeaseOutcome::dead, LeaseOutcome::failed));

  EXPECT_EQ(mail().info("bad"_id).dead_reason, DeadReason::unreadable);
  EXPECT_EQ(mail().info("bad"_id).last_error, "broken");
  EXPECT_EQ(mail().recover(), 0U);
  EXPECT_EQ(mail().stats().active, 0U);
}

TEST_P(LeaseDamage, B05_ARepeatedClaimLeavesOutARecordDamagedMeanwhile) {
  mail().put_all({{.id = "bad"_id}, {.id = "good"_id}});
  const ClaimRequest request{.most = 2, .lease = 10s, .token = LeaseToken("mine")};
  mail().claim(request);
  overwrite("bad", "x");

  EXPECT_THAT(ids_of(mail().claim(request).jobs), ElementsAre("good"_id));

  clock().advance(10s);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("good"_id));
  EXPECT_EQ(mail().info("bad"_id).dead_reason, DeadReason::unreadable);
}

TEST_P(LeaseDamage, B04_AnEntryWithoutARecordIsDroppedAndCounted) {
  put_101();
  lease().raw({"HDEL", LeaseHarness::key("jobs"), "bad"});

  EXPECT_THAT(mail().claim_many(), SizeIs(100));

  EXPECT_FALSE(mail().find("bad"_id));
  EXPECT_EQ(mail().stats().totals.dropped, 1U);
  EXPECT_EQ(mail().stats().ready + mail().stats().scheduled, 0U);
}

TEST_P(LeaseDamage, B04_AnEntryWithoutARecordDoesNotDisturbLists) {
  mail().put_all({{.id = "a"_id}, {.id = "bad"_id}, {.id = "c"_id}});
  lease().raw({"HDEL", LeaseHarness::key("jobs"), "bad"});

  EXPECT_THAT(ids_of(mail().list(JobState::ready).jobs), ElementsAre("a"_id, "c"_id));
}

TEST_P(LeaseDamage, B04_ALeaseWithoutAnEndIsTakenBackByRecovery) {
  const ActiveJob job = put_and_claim({.id = "a"_id}, 1h);
  lease().raw({"ZREM", LeaseHarness::key("leases"), job.token.text()});

  EXPECT_EQ(mail().recover(), 1U);

  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
  EXPECT_EQ(mail().ack(job), LeaseOutcome::lease_lost);
  EXPECT_EQ(lease().raw({"HGET", LeaseHarness::key("meta"), "repaired"}).text, "1");
}

TEST_P(LeaseDamage, B04_AnActiveJobWithoutARecordIsForgottenByRecovery) {
  mail().put_all({{.id = "bad"_id}, {.id = "good"_id}});
  mail().claim_many(2, 10s);
  lease().raw({"HDEL", LeaseHarness::key("jobs"), "bad"});
  clock().advance(10s);

  EXPECT_EQ(mail().recover(), 1U);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("good"_id));
}

}  // namespace
}  // namespace duly::testing
