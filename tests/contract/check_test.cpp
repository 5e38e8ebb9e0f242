#include "tests/contract/engine_contract.h"

namespace duly {

void PrintTo(const CheckReport::Finding& finding, std::ostream* out) {
  *out << to_string(finding.damage) << ' ' << finding.what;
}

namespace testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class LeaseCheck : public LeaseContract {
 protected:
  void raw(std::vector<std::string> words) {
    words[1] = LeaseHarness::key(words[1]);
    lease().raw(words);
  }
  CheckReport check(CheckMode mode = CheckMode::look) {
    clock().advance(1ms);  // a job put in this very millisecond is left to the next check
    return mail().check(mode);
  }
  std::vector<CheckReport::Finding> repair() { return check(CheckMode::repair).findings; }
  std::vector<CheckReport::Finding> findings() { return check().findings; }
  std::uint64_t repaired() { return mail().stats().totals.repaired; }
  std::uint64_t dropped() { return mail().stats().totals.dropped; }

  /// Jobs in every place: 700 waiting, 300 active in several leases, 2 dead, some with a history.
  void fill() {
    for (int i = 0; i < 4; ++i) mail().put_all(std::vector<NewJob>(250));
    for (int i = 0; i < 10; ++i) mail().claim_many(30);
    for (const char* const id : {"d1", "d2"}) {
      mail().put({.due_at = SystemTime{}, .id = JobId(id)});
      mail().fail(mail().claim_one(), {.error = "broken", .then = Failure::Then::give_up});
    }
    mail().put({.due_at = SystemTime{}, .id = "f"_id});
    mail().fail(mail().claim_one(), {.error = "broken", .retry_in = 1h});
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, LeaseCheck, lease_engines(), kind_name);

TEST_P(LeaseCheck, B04_AnEmptyQueueIsConsistent) {
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_THAT(mail().summary().findings, IsEmpty());
}

TEST_P(LeaseCheck, B04_AWholeQueueIsLookedAtAndConsistent) {
  fill();

  const CheckReport report = check(CheckMode::repair);

  EXPECT_THAT(report.findings, IsEmpty());
  // 1,003 records, 701 waiting, 10 leases with their ends, 2 dead, 3 histories.
  EXPECT_EQ(report.looked, 1003U + 701U + 20U + 2U + 3U);
  EXPECT_THAT(mail().summary().findings, IsEmpty());
  EXPECT_EQ(mail().stats().active, 300U);
}

TEST_P(LeaseCheck, B04_ARecordInNoPlaceIsReadyAgain) {
  fill();
  mail().put({.delay = 1h, .id = "lost"_id});
  raw({"ZREM", "due", "lost"});
  EXPECT_THAT(mail().summary().findings, SizeIs(1));

  EXPECT_THAT(findings(), ElementsAre(CheckReport::Finding{Damage::no_place, "lost"}));
  EXPECT_EQ(repaired(), 0U);
  EXPECT_THAT(repair(), SizeIs(1));

  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_EQ(mail().state_of("lost"_id), JobState::ready);
  EXPECT_EQ(repaired(), 1U);
}

TEST_P(LeaseCheck, B04_TheWholeIndexLostIsBuiltAgain) {
  fill();
  raw({"DEL", "due"});

  EXPECT_EQ(check(CheckMode::repair).found, 701U);

  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_EQ(mail().stats().ready, 701U);
  EXPECT_EQ(mail().stats().active, 300U);
}

TEST_P(LeaseCheck, B04_AnEntryWithoutARecordIsDroppedWhereverItIs) {
  fill();
  const ActiveJob active = put_and_claim({.due_at = SystemTime{}, .id = "active"_id});
  mail().put({.delay = 1h, .id = "waiting"_id});
  raw({"HDEL", "jobs", "active", "waiting", "d1"});

  EXPECT_THAT(repair(), UnorderedElementsAre(CheckReport::Finding{Damage::no_record, "active"},
                                             CheckReport::Finding{Damage::no_record, "waiting"},
                                             CheckReport::Finding{Damage::no_record, "d1"}));

  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_EQ(dropped(), 3U);
  EXPECT_EQ(mail().ack(active), LeaseOutcome::lease_lost);
}

TEST_P(LeaseCheck, B04_ALeaseWithoutAnEndEndsNow) {
  fill();
  const ActiveJob job = put_and_claim({.due_at = SystemTime{}, .id = "a"_id}, 1h);
  raw({"ZREM", "leases", job.token.text()});

  EXPECT_THAT(repair(), ElementsAre(CheckReport::Finding{Damage::no_end, job.token.text()}));

  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_EQ(mail().recover(), 1U);
  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
  EXPECT_EQ(repaired(), 1U);
}

TEST_P(LeaseCheck, B04_ALeaseWhoseListIsLostFreesItsJobs) {
  mail().put_all({{.id = "a"_id}, {.id = "b"_id}});
  const ActiveJob job = mail().claim_many(2, 1h).at(0);
  raw({"HDEL", "held", job.token.text()});

  EXPECT_THAT(repair(),
              UnorderedElementsAre(CheckReport::Finding{Damage::no_list, job.token.text()},
                                   CheckReport::Finding{Damage::no_place, "a"},
                                   CheckReport::Finding{Damage::no_place, "b"}));

  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_THAT(mail().claim_many(), SizeIs(2));
}

TEST_P(LeaseCheck, B04_AJobInTwoPlacesIsKeptInOne) {
  mail().put_all({{.id = "a"_id}, {.id = "b"_id}, {.id = "c"_id}});
  const ActiveJob active = mail().claim_one(1h);
  raw({"ZADD", "due", "1", "a"});
  raw({"ZADD", "dead", "1", "b"});
  raw({"HSET", "held", "other", "a"});
  raw({"ZADD", "leases", "99999999999999", "other"});

  EXPECT_EQ(check().found, 4U) << "a in due, of both lists; b in dead; a in two lists";
  repair();

  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_EQ(mail().state_of("a"_id), JobState::active);
  EXPECT_EQ(mail().state_of("b"_id), JobState::ready);
  EXPECT_EQ(mail().stats().dead, 0U);
  EXPECT_EQ(mail().stats().active, 1U);
}

TEST_P(LeaseCheck, B04_AHistoryWithoutItsJobIsRemoved) {
  fill();
  raw({"HSET", "tries", "nobody", "history"});

  EXPECT_THAT(repair(), ElementsAre(CheckReport::Finding{Damage::no_job, "nobody"}));
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_P(LeaseCheck, B04_AMendedJobIsNotTakenFromItsWorker) {
  const ActiveJob job = put_and_claim({.id = "a"_id}, 1h);

  repair();

  EXPECT_EQ(mail().ack(job), LeaseOutcome::acked);
}

TEST_P(LeaseCheck, B100_TotalsThatDriftedGrowUntilTheyAddUp) {
  fill();
  raw({"HINCRBY", "meta", "put", "7"});
  EXPECT_THAT(
      findings(),
      ElementsAre(CheckReport::Finding{
          Damage::totals, "put is 1010, acked + cancelled + purged + dropped + existing 1003"}));

  repair();
  EXPECT_EQ(dropped(), 7U);
  EXPECT_THAT(findings(), IsEmpty());

  raw({"HDEL", "meta", "put"});
  repair();
  EXPECT_EQ(mail().stats().totals.put, 1010U);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_P(LeaseCheck, B100_AJobPutOverALostRecordCountsItAsDropped) {
  mail().put({.delay = 1h, .id = "a"_id});
  raw({"HDEL", "jobs", "a"});

  EXPECT_EQ(mail().put({.id = "a"_id}).outcome, PutOutcome::created);

  EXPECT_EQ(dropped(), 1U);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_P(LeaseCheck, B100_ALostRecordCountsOnceHoweverItsLeaseEnds) {
  mail().put_all({{.id = "a"_id}, {.id = "b"_id}, {.id = "c"_id}, {.id = "d"_id}});
  std::vector<ActiveJob> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(mail().claim_one(10s));
  raw({"HDEL", "jobs", "a", "b", "c", "d"});

  EXPECT_EQ(mail().ack(jobs[0]), LeaseOutcome::acked);
  EXPECT_EQ(mail().fail(jobs[1]), LeaseOutcome::lease_lost);
  EXPECT_EQ(mail().release(jobs[2]), LeaseOutcome::released);
  clock().advance(10s);
  EXPECT_THAT(mail().claim_many(), IsEmpty());

  EXPECT_EQ(dropped(), 3U);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_P(LeaseCheck, TheSummaryIsMadeOnceInItsTime) {
  mail().put({.id = "a"_id});
  raw({"ZREM", "due", "a"});

  EXPECT_THAT(mail().summary(CheckMode::look, 15s).findings, SizeIs(1));
  EXPECT_THAT(mail().summary(CheckMode::look, 15s).findings, IsEmpty());
  clock().advance(15s);
  EXPECT_THAT(mail().summary(CheckMode::look, 15s).findings, SizeIs(1));
}

TEST_P(LeaseCheck, B04_TheSummaryEndsLeasesWithoutAnEnd) {
  const ActiveJob job = put_and_claim({.id = "a"_id}, 1h);
  raw({"ZREM", "leases", job.token.text()});

  EXPECT_THAT(mail().summary(CheckMode::repair).findings, SizeIs(1));

  EXPECT_EQ(repaired(), 1U);
  EXPECT_EQ(mail().claim_one().id, "a"_id);
}

TEST_P(LeaseCheck, AWrongPieceIsRefused) {
  const auto is_refused = [&](const std::vector<std::string>& arguments) {
    return lease().call("duly_check", arguments).text.starts_with("DULY_INVALID ");
  };
  EXPECT_TRUE(is_refused({}));
  EXPECT_TRUE(is_refused({"part", "walk"}));
  EXPECT_TRUE(is_refused({"part", "jobs", "cursor", "x"}));
  EXPECT_TRUE(is_refused({"part", "jobs", "repair", "2"}));
  EXPECT_TRUE(is_refused({"part", "summary", "every_ms", "-1"}));
  EXPECT_TRUE(is_refused({"part", "suspects"}));
  EXPECT_TRUE(is_refused({"part", "twice", "columns", "1", "suspect", "a"}));
  EXPECT_FALSE(is_refused({"part", "jobs"}));
}

}  // namespace
}  // namespace testing
}  // namespace duly
