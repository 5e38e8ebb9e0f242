#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class EnginePriority : public EngineContract {};
INSTANTIATE_TEST_SUITE_P(Engines, EnginePriority, every_engine(), kind_name);

TEST_P(EnginePriority, OfWhatIsDueTheHighestPriorityGoesFirstThenTheLongestOverdue) {
  NEEDS(has_priorities);
  mail().put({.id = "plain-1"_id});
  clock().advance(1ms);
  mail().put({.id = "plain-2"_id});
  mail().put({.id = "nine-late"_id, .priority = 9});
  mail().put({.due_at = clock().now() - 1s, .id = "nine-early"_id, .priority = 9});
  mail().put({.id = "five"_id, .priority = 5});
  clock().advance(1s);

  EXPECT_THAT(ids_of(mail().claim_many(3)),
              ElementsAre("nine-early"_id, "nine-late"_id, "five"_id));
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("plain-1"_id, "plain-2"_id));
}

TEST_P(EnginePriority, PriorityMakesNothingEarly) {
  NEEDS(has_priorities);
  mail().put({.delay = 1s, .id = "urgent"_id, .priority = 9});
  mail().put({.id = "plain"_id});

  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("plain"_id));
  clock().advance(999ms);
  EXPECT_THAT(mail().claim_many(), IsEmpty());
  clock().advance(1ms);
  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("urgent"_id));
}

TEST_P(EnginePriority, TheNextDueTimeIsTheFirstOfAllPriorities) {
  NEEDS(has_priorities);
  mail().put({.delay = 3s, .id = "a"_id, .priority = 9});
  mail().put({.delay = 2s, .id = "b"_id, .priority = 0});
  mail().put({.delay = 1s, .id = "c"_id, .priority = 4});

  EXPECT_EQ(mail().claim({.most = 1}).next_in, 1s);
  EXPECT_EQ(mail().stats().oldest_due, clock().now() + 1s);
}

// A job is as urgent as before, whichever way it comes back.
TEST_P(EnginePriority, EveryWayBackKeepsThePriority) {
  NEEDS(has_priorities);
  const auto is_first = [&](const JobId& id) {
    mail().put({.due_at = clock().now() - 1h, .id = "rival"_id});
    const auto jobs = mail().claim_many(1, 10s);
    mail().cancel("rival"_id);
    return ids_of(jobs) == std::vector{id};
  };
  const Backoff at_once{.kind = Backoff::Kind::fixed, .base = 0ms, .jitter = 0};
  mail().put({.id = "job"_id, .priority = 3, .backoff = at_once});
  ActiveJob job = mail().claim_one(10s);
  mail().release(job);
  EXPECT_TRUE(is_first("job"_id)) << "release";
  clock().advance(10s);
  mail().recover();
  EXPECT_TRUE(is_first("job"_id)) << "recover";
  clock().advance(10s);
  job = mail().claim_one(10s);
  mail().fail(job);
  EXPECT_EQ(mail().reschedule({.id = "job"_id, .delay = 1s}), ChangeOutcome::done);
  EXPECT_EQ(mail().run_now("job"_id), ChangeOutcome::done);
  EXPECT_EQ(mail().edit("job"_id, "other payload"), ChangeOutcome::done);
  job = mail().claim_one(10s);
  mail().fail(job, {.then = Failure::Then::give_up});
  EXPECT_EQ(mail().replay("job"_id), ChangeOutcome::done);
  EXPECT_TRUE(is_first("job"_id)) << "replay";
  EXPECT_EQ(mail().info("job"_id).priority, 3U);
}

TEST_P(EnginePriority, B47_AStreamOfNewJobsDoesNotHoldBackTheOverdueOnes) {
  NEEDS(has_leases);
  for (int i = 0; i < 4; ++i) mail().put_all(std::vector<NewJob>(250));
  const JobId oldest = mail().list(JobState::ready, {.most = 1}).jobs.at(0).id;
  clock().advance(1h);

  for (int delivery = 1; delivery <= 1000; ++delivery) {
    mail().put({.id = JobId("new-" + std::to_string(delivery))});
    const ActiveJob job = mail().claim_one();
    if (delivery == 1) {
      EXPECT_EQ(job.id, oldest);
    }
    ASSERT_FALSE(job.id.text().starts_with("new-")) << delivery;
    mail().ack(job);
  }
  EXPECT_EQ(mail().claim_one().id, "new-1"_id);
}

TEST_P(EnginePriority, ListsShowTheHighestPriorityFirstInPages) {
  NEEDS(has_priorities);
  for (const std::uint32_t priority : {0U, 4U, 9U}) {
    for (int i = 0; i < 3; ++i) {
      const std::string name = std::to_string(priority) + "-" + std::to_string(i);
      mail().put({.delay = 1s * (i + 1), .id = JobId(name), .priority = priority});
    }
  }
  const auto all = [&](JobState state) {
    std::string names;
    ListOptions options{.most = 2};
    while (true) {
      const JobPage page = mail().list(state, options);
      for (const JobInfo& job : page.jobs) names += job.id.text() + " ";
      if (!page.next) return names;
      options.after = *page.next;
    }
  };

  EXPECT_EQ(all(JobState::scheduled), "9-0 9-1 9-2 4-0 4-1 4-2 0-0 0-1 0-2 ");
  clock().advance(2s);
  EXPECT_EQ(all(JobState::ready), "9-0 9-1 4-0 4-1 0-0 0-1 ");
  EXPECT_EQ(all(JobState::scheduled), "9-2 4-2 0-2 ");
  EXPECT_EQ(mail().stats().ready, 6U);
  EXPECT_EQ(mail().stats().scheduled, 3U);
}

class LeasePriority : public LeaseContract {};
INSTANTIATE_TEST_SUITE_P(Engines, LeasePriority, lease_engines(), kind_name);

TEST_P(LeasePriority, APutByHandNamesThePriorityAndAWrongOneIsRefused) {
  lease().call("duly_put", {"id", "plain"});
  lease().call("duly_put", {"id", "urgent", "priority", "9"});

  EXPECT_THAT(ids_of(mail().claim_many()), ElementsAre("urgent"_id, "plain"_id));
  for (const std::string wrong : {"10", "-1", "high", "1.5"}) {
    EXPECT_THAT(lease().call("duly_put", {"id", "wrong", "priority", wrong}).text,
                ::testing::HasSubstr("priority: not a whole number in range, expected 0 .. 9"));
  }
}

TEST_P(LeasePriority, WithoutPrioritiesTheIndexIsByDueTimeAlone) {
  const SystemTime due_at = clock().now() + 1h;
  mail().put({.due_at = due_at, .id = "plain"_id});

  EXPECT_EQ(lease().raw({"ZSCORE", lease().key("due"), "plain"}).text,
            std::to_string(due_at.time_since_epoch().count()));
  EXPECT_EQ(lease().raw({"HEXISTS", lease().key("meta"), "levels"}).integer, 0);
}

}  // namespace
}  // namespace duly::testing
