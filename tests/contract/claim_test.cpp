#include <map>
#include <set>

#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EngineClaim : public EngineContract {};
INSTANTIATE_TEST_SUITE_P(Engines, EngineClaim, every_engine(), kind_name);

TEST_P(EngineClaim, AnEmptyQueueGivesNothingAndNothingToWaitFor) {
  const ClaimReply reply = mail().claim(ClaimRequest{});

  EXPECT_THAT(reply.jobs, IsEmpty());
  EXPECT_FALSE(reply.next_in);
  EXPECT_EQ(reply.now, clock().now_us());
}

TEST_P(EngineClaim, NeverEarly) {
  mail().put({.delay = 10s});

  clock().advance(9'999ms);
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  clock().advance(999us);
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  clock().advance(1us);
  EXPECT_THAT(mail().claim_many(), SizeIs(1));
}

TEST_P(EngineClaim, AClaimedJobIsNotClaimedAgain) {
  NEEDS(has_leases);
  put_and_claim({.id = "a"_id});

  EXPECT_THAT(mail().claim_many(), IsEmpty());
  EXPECT_EQ(mail().state_of("a"_id), JobState::active);
}

TEST_P(EngineClaim, TheLongestOverdueComeFirst) {
  mail().put({.delay = 3s, .id = "third"_id});
  mail().put({.delay = 1s, .id = "first"_id});
  mail().put({.delay = 2s, .id = "second"_id});
  clock().advance(3s);

  EXPECT_EQ(mail().claim_one().id, "first"_id);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("second"_id, "third"_id));
}

TEST_P(EngineClaim, EqualDueTimesComeInTheOrderOfTheirIds) {
  mail().put_all({{.id = "b"_id}, {.id = "c"_id}, {.id = "a"_id}});

  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("a"_id, "b"_id, "c"_id));
}

TEST_P(EngineClaim, NoMoreThanAskedFor) {
  mail().put_all({{}, {}, {}});

  EXPECT_THAT(mail().claim(ClaimRequest{.most = 0}).jobs, IsEmpty());
  EXPECT_THAT(mail().claim_many(2), SizeIs(2));
  EXPECT_THAT(mail().claim_many(2), SizeIs(1));
}

TEST_P(EngineClaim, AnActiveJobSaysAllThatItsHandlerNeeds) {
  NEEDS(has_leases);
  const SystemTime put_at = clock().now();
  mail().put({.type = "welcome",
              .payload = "bytes",
              .delay = 2s,
              .id = "a"_id,
              .timeout = 11s,
              .max_attempts = 3});
  clock().advance(5s);

  const ActiveJob job =
      mail().claim(ClaimRequest{.lease = 9s, .token = LeaseToken("mine")}).jobs.at(0);

  EXPECT_EQ(job.id, "a"_id);
  EXPECT_EQ(job.token, LeaseToken("mine"));
  EXPECT_EQ(job.queue, mail().name());
  EXPECT_EQ(job.type, "welcome");
  EXPECT_EQ(job.payload, "bytes");
  EXPECT_EQ(job.attempt, 1U);
  EXPECT_EQ(job.max_attempts, 3U);
  EXPECT_EQ(job.put_at, put_at);
  EXPECT_EQ(job.due_at, put_at + 2s);
  EXPECT_EQ(job.claimed_at, put_at + 5s);
  EXPECT_EQ(job.lease, 9s);
  EXPECT_EQ(job.timeout, 11s);
}

TEST_P(EngineClaim, LatenessIsAddedUp) {
  mail().put_all({{.delay = 1s}, {.delay = 2s}});
  clock().advance(2'500ms);

  mail().claim_many();

  EXPECT_EQ(mail().stats().totals.lateness_ms, 2'000U);
  EXPECT_EQ(mail().stats().totals.claimed, 2U);
}

TEST_P(EngineClaim, ADueTimeInThePastIsNoLateness) {
  NEEDS(has_ids);
  mail().put({.due_at = clock().now() - 24h});
  clock().advance(3s);

  mail().claim_many();

  EXPECT_EQ(mail().stats().totals.lateness_ms, 3'000U);
}

TEST_P(EngineClaim, NextInIsTheTimeToTheNextDueJobInMicroseconds) {
  mail().put({.delay = 10s});
  clock().advance(1'500us);

  EXPECT_EQ(mail().claim(ClaimRequest{}).next_in, 10s - 1'500us);
}

TEST_P(EngineClaim, NextInIsTheTimeToTheNextLeaseEndIfThatIsEarlier) {
  NEEDS(has_leases);
  mail().put({.delay = 10s});
  put_and_claim({}, 4s);

  EXPECT_EQ(mail().claim(ClaimRequest{}).next_in, 4s);
}

TEST_P(EngineClaim, NextInIsZeroIfMoreAreDue) {
  mail().put_all({{}, {}});

  EXPECT_EQ(mail().claim(ClaimRequest{}).next_in, 0s);
}

TEST_P(EngineClaim, ARepeatedClaimAnswersWhatItTookAndTakesNoMore) {
  NEEDS(has_leases);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id}, {.id = "c"_id}});
  const ClaimRequest request{.most = 2, .lease = 30s, .token = LeaseToken("mine")};
  const auto first = mail().claim(request).jobs;

  const auto again = mail().claim(request).jobs;

  EXPECT_EQ(ids_of(again), ids_of(first));
  EXPECT_EQ(again[0].token, first[0].token);
  EXPECT_EQ(again[1].attempt, 1U);
  EXPECT_EQ(mail().stats().totals.claimed, 2U);
  EXPECT_EQ(mail().state_of("c"_id), JobState::ready);
  EXPECT_THAT(mail().ack(held_of(again)), ::testing::Each(LeaseOutcome::acked));
}

TEST_P(EngineClaim, ARepeatedClaimLeavesOutWhatIsDone) {
  NEEDS(has_leases);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id}});
  const ClaimRequest request{.most = 2, .token = LeaseToken("mine")};
  mail().ack(mail().claim(request).jobs.at(0));

  EXPECT_THAT(ids_of(mail().claim(request).jobs), ElementsAre("b"_id));
}

TEST_P(EngineClaim, ARepeatedClaimAnswersLeasesOfEveryLength) {
  NEEDS(has_leases);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id, .lease = 5s}, {.id = "c"_id, .lease = 60s}});
  const ClaimRequest request{.most = 3, .token = LeaseToken("mine")};
  const auto first = mail().claim(request).jobs;

  const auto again = mail().claim(request).jobs;

  EXPECT_EQ(ids_of(again), ids_of(first));
  EXPECT_THAT(mail().ack(held_of(again)), ::testing::Each(LeaseOutcome::acked));
}

TEST_P(EngineClaim, JobsWithLeaseLengthsOfTheirOwnGetLeasesOfTheirOwn) {
  NEEDS(has_lease_lengths);
  mail().put_all({{.id = "a"_id},
                  {.id = "b"_id, .lease = 5s},
                  {.id = "c"_id},
                  {.id = "d"_id, .lease = 60s},
                  {.id = "e"_id, .lease = 5s}});

  const auto jobs =
      mail().claim(ClaimRequest{.most = 5, .lease = 30s, .token = LeaseToken("t")}).jobs;

  std::map<JobId, std::pair<std::string, Milliseconds>> leases;
  for (const ActiveJob& job : jobs) leases[job.id] = {job.token.text(), job.lease};
  EXPECT_EQ(leases["a"_id], std::pair(std::string("t"), Milliseconds{30s}));
  EXPECT_EQ(leases["b"_id], std::pair(std::string("t.2"), Milliseconds{5s}));
  EXPECT_EQ(leases["c"_id], leases["a"_id]);
  EXPECT_EQ(leases["d"_id], std::pair(std::string("t.3"), Milliseconds{60s}));
  EXPECT_EQ(leases["e"_id], leases["b"_id]);
}

TEST_P(EngineClaim, EachLeaseOfAClaimEndsByItself) {
  NEEDS(has_lease_lengths);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id, .lease = 5s}, {.id = "c"_id, .lease = 60s}});
  const auto jobs = mail().claim_many(3, 30s);

  clock().advance(5s);
  EXPECT_THAT(ids_of(mail().claim_many(3, 24h)), ElementsAre("b"_id));
  clock().advance(25s);
  EXPECT_EQ(mail().recover(), 2U);  // "a", and "b" again
  EXPECT_EQ(mail().state_of("c"_id), JobState::active);
  EXPECT_EQ(mail().ack(jobs[2]), LeaseOutcome::acked);
}

TEST_P(EngineClaim, ATokenUsedAgainTooEarlyLosesNoJob) {
  NEEDS(has_lease_lengths);
  mail().put_all({{.id = "a"_id}, {.id = "b"_id, .lease = 5s}});
  const auto first = mail().claim(ClaimRequest{.most = 2, .token = LeaseToken("same")}).jobs;
  mail().ack(first.at(0));  // "same.2" stands
  mail().put_all({{.id = "c"_id}, {.id = "d"_id, .lease = 7s}});

  const auto second = mail().claim(ClaimRequest{.most = 2, .token = LeaseToken("same")}).jobs;

  EXPECT_NE(second.at(1).token, first.at(1).token);
  EXPECT_EQ(mail().ack(first.at(1)), LeaseOutcome::acked);
  clock().advance(1min);
  EXPECT_EQ(mail().recover(), 2U);
  EXPECT_EQ(mail().stats().ready, 2U);
}

TEST_P(EngineClaim, B07_ADelayLongerThanTheLeaseGivesOneDelivery) {
  NEEDS(has_leases);
  mail().put({.delay = 30s, .lease = 2s});
  const SystemTime put_at = clock().now();

  std::vector<ActiveJob> delivered;
  for (int half_second = 0; half_second < 62; ++half_second) {
    for (int worker = 0; worker < 3; ++worker) {
      for (const ActiveJob& job : mail().claim_many(1, 2s)) {
        delivered.push_back(job);
        mail().ack(job);
      }
    }
    clock().advance(500ms);
  }

  ASSERT_THAT(delivered, SizeIs(1));
  EXPECT_EQ(delivered[0].claimed_at, put_at + 30s);
  EXPECT_EQ(delivered[0].attempt, 1U);
}

TEST_P(EngineClaim, B10_ManyWorkersAndRecoveryPassesNeverGetAJobEarlyOrTwice) {
  NEEDS(has_leases);
  std::vector<NewJob> jobs;
  for (int i = 0; i < 200; ++i) jobs.push_back({.delay = Milliseconds{1'000 + i * 7 % 50}});
  mail().put_all(std::move(jobs));

  std::set<JobId> delivered;
  for (int step = 0; step < 60; ++step) {
    for (int worker = 0; worker < 5; ++worker) {
      mail().recover();
      for (const ActiveJob& job : mail().claim_many(5)) {
        EXPECT_LE(job.due_at, clock().now());
        EXPECT_TRUE(delivered.insert(job.id).second) << job.id.text();
      }
    }
    clock().advance(step == 0 ? 999ms : 1ms);
  }

  EXPECT_THAT(delivered, SizeIs(200));
}

TEST_P(EngineClaim, AClaimStopsBehindOneMebibyte) {
  for (int i = 0; i < 20; ++i) mail().put({.payload = std::string(100UL * 1024, 'x')});

  const ClaimReply reply = mail().claim(ClaimRequest{.most = 20});

  EXPECT_THAT(reply.jobs, SizeIs(11));
  EXPECT_EQ(reply.next_in, 0s);
  EXPECT_THAT(mail().claim_many(20), SizeIs(9));
}

TEST_P(EngineClaim, ASmallClaimStopsBehindOneMebibyteToo) {
  for (int i = 0; i < 3; ++i) mail().put({.payload = std::string(600UL * 1024, 'x')});

  EXPECT_THAT(mail().claim_many(3), SizeIs(2));
  EXPECT_THAT(mail().claim_many(3), SizeIs(1));
}

TEST_P(EngineClaim, B43_AThousandJobsOfOneInstantAllComeInOrder) {
  NEEDS(has_leases);
  for (int batch = 0; batch < 4; ++batch) {
    mail().put_all(std::vector<NewJob>(250, NewJob{.due_at = clock().now() + 1s}));
  }
  clock().advance(1s);

  std::vector<JobId> delivered;
  while (true) {
    const auto jobs = mail().claim_many();
    if (jobs.empty()) break;
    for (const JobId& id : ids_of(jobs)) delivered.push_back(id);
    mail().ack(held_of(jobs));
  }

  EXPECT_THAT(delivered, SizeIs(1'000));
  EXPECT_TRUE(std::is_sorted(delivered.begin(), delivered.end()));
}

}  // namespace
}  // namespace duly::testing
