#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EngineLook : public EngineContract {
 protected:
  /// All pages of a list, of so many jobs at the most.
  std::vector<JobInfo> all_of(JobState state, std::size_t most) {
    std::vector<JobInfo> all;
    std::optional<std::string> after = "";
    while (after && all.size() <= 1'000) {  // a page that does not move on would go on for ever
      JobPage page = mail().list(state, {.most = most, .after = *after});
      EXPECT_LE(page.jobs.size(), most);
      for (JobInfo& job : page.jobs) all.push_back(std::move(job));
      after = page.next;
    }
    return all;
  }
  /// 600 jobs of which hundreds have the same due time; their ids do not sort like their due times.
  std::vector<JobId> put_600(Milliseconds delay) {
    std::vector<std::pair<Milliseconds, JobId>> order;
    for (int batch = 0; batch < 3; ++batch) {
      std::vector<NewJob> jobs;
      for (int i = 0; i < 200; ++i) {
        const int number = (batch * 200 + i) * 7 % 600;
        jobs.push_back({.delay = delay + Milliseconds{number % 3},
                        .id = JobId("job" + std::to_string(number))});
        order.emplace_back(jobs.back().delay, *jobs.back().id);
      }
      mail().put_all(std::move(jobs));
    }
    std::sort(order.begin(), order.end());
    std::vector<JobId> ids;
    for (const auto& [due, id] : order) ids.push_back(id);
    return ids;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, EngineLook, every_engine(), kind_name);

TEST_P(EngineLook, FindTellsTheStateOfEachJob) {
  NEEDS(has_leases);
  put_and_kill({.id = "dead"_id});
  put_and_claim({.id = "active"_id});
  mail().put({.id = "ready"_id});
  mail().put({.delay = 1ms, .id = "scheduled"_id});

  const auto jobs = mail().find({"scheduled"_id, "unknown"_id, "ready"_id, "active"_id, "dead"_id});

  EXPECT_EQ(jobs.at(0).value().state, JobState::scheduled);
  EXPECT_FALSE(jobs.at(1));
  EXPECT_EQ(jobs.at(2).value().state, JobState::ready);
  EXPECT_EQ(jobs.at(3).value().state, JobState::active);
  EXPECT_FALSE(jobs.at(3)->due_at);
  EXPECT_EQ(jobs.at(4).value().state, JobState::dead);
  EXPECT_EQ(jobs.at(4)->dead_reason, DeadReason::given_up);
}

TEST_P(EngineLook, AScheduledJobIsReadyAtItsDueTimeByTheClockAlone) {
  NEEDS(has_ids);
  mail().put({.delay = 1s, .id = "a"_id});

  clock().advance(999ms);
  EXPECT_EQ(mail().state_of("a"_id), JobState::scheduled);
  clock().advance(1ms);
  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
}

TEST_P(EngineLook, EachStateIsListedByItself) {
  NEEDS(has_leases);
  put_and_kill({.id = "dead"_id});
  put_and_claim({.id = "active"_id});
  mail().put({.id = "ready"_id});
  mail().put({.delay = 1ms, .id = "scheduled"_id});

  EXPECT_THAT(ids_of(mail().list(JobState::scheduled).jobs), ElementsAre("scheduled"_id));
  EXPECT_THAT(ids_of(mail().list(JobState::ready).jobs), ElementsAre("ready"_id));
  EXPECT_THAT(ids_of(mail().list(JobState::active).jobs), ElementsAre("active"_id));
  EXPECT_THAT(ids_of(mail().list(JobState::dead).jobs), ElementsAre("dead"_id));
}

TEST_P(EngineLook, AnEmptyListHasNoNextPage) {
  NEEDS(has_ids);
  for (const JobState state :
       {JobState::scheduled, JobState::ready, JobState::active, JobState::dead, JobState::done}) {
    const JobPage page = mail().list(state);

    EXPECT_THAT(page.jobs, IsEmpty());
    EXPECT_FALSE(page.next);
  }
}

TEST_P(EngineLook, ACursorOfAnotherFormIsRefused) {
  for (const JobState state : {JobState::ready, JobState::active, JobState::dead, JobState::done}) {
    try {
      mail().list(state, {.after = "no-cursor"});
      ADD_FAILURE() << "it was taken for " << to_string(state);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    }
  }
}

TEST_P(EngineLook, PagesOf600ScheduledJobsShowEachOnceByDueTime) {
  NEEDS(has_ids);
  const auto expected = put_600(1h);

  EXPECT_EQ(ids_of(all_of(JobState::scheduled, 7)), expected);
  EXPECT_EQ(ids_of(all_of(JobState::scheduled, 250)), expected);
  EXPECT_THAT(all_of(JobState::ready, 250), IsEmpty());
}

TEST_P(EngineLook, PagesOf600ReadyJobsShowEachOnceByDueTime) {
  NEEDS(has_ids);
  const auto expected = put_600(0ms);
  mail().put({.delay = 1h});
  clock().advance(2ms);

  EXPECT_EQ(ids_of(all_of(JobState::ready, 11)), expected);
  EXPECT_EQ(ids_of(all_of(JobState::ready, 200)), expected);
}

TEST_P(EngineLook, PagesOf600ActiveJobsShowEachOnceByLeaseEnd) {
  NEEDS(has_leases);
  const auto ids = put_600(0ms);
  clock().advance(2ms);
  mail().claim_many(100, 30s);
  mail().claim_many(250, 20s);
  mail().claim_many(250, 20s);
  std::vector<JobId> expected(ids.begin() + 100, ids.end());
  expected.insert(expected.end(), ids.begin(), ids.begin() + 100);

  EXPECT_EQ(ids_of(all_of(JobState::active, 7)), expected);
  EXPECT_EQ(ids_of(all_of(JobState::active, 250)), expected);
}

TEST_P(EngineLook, PagesOf600DeadJobsShowEachOnceLatestFirst) {
  NEEDS(has_leases);
  const auto ids = put_600(0ms);
  clock().advance(2ms);
  for (int piece = 0; piece < 3; ++piece) {
    std::vector<FailRow> rows;
    for (const Held& held : held_of(mail().claim_many(200))) {
      rows.push_back({held, {.then = Failure::Then::give_up}});
    }
    mail().fail(std::move(rows));
    clock().advance(piece == 0 ? 1ms : 0ms);
  }
  std::vector<JobId> expected(ids.begin(), ids.end());
  std::sort(expected.begin(), expected.begin() + 200);
  std::sort(expected.begin() + 200, expected.end());
  std::reverse(expected.begin(), expected.end());

  EXPECT_EQ(ids_of(all_of(JobState::dead, 7)), expected);
  EXPECT_EQ(ids_of(all_of(JobState::dead, 250)), expected);
}

TEST_P(EngineLook, APageGoesOnBehindAJobThatHasLeft) {
  NEEDS(has_ids);
  mail().put_all({{.delay = 1s, .id = "a"_id},
                  {.delay = 2s, .id = "b"_id},
                  {.delay = 3s, .id = "c"_id},
                  {.delay = 4s, .id = "d"_id}});
  const JobPage first = mail().list(JobState::scheduled, {.most = 2});
  mail().cancel("b"_id);

  const JobPage second = mail().list(JobState::scheduled, {.most = 2, .after = first.next.value()});

  EXPECT_THAT(ids_of(first.jobs), ElementsAre("a"_id, "b"_id));
  EXPECT_THAT(ids_of(second.jobs), ElementsAre("c"_id, "d"_id));
}

TEST_P(EngineLook, APageEndsBehindOneMebibyteOfPayloads) {
  NEEDS(has_ids);
  for (int i = 0; i < 3; ++i) mail().put({.payload = std::string(600UL * 1024, 'x')});

  const JobPage page = mail().list(JobState::ready);

  EXPECT_THAT(page.jobs, SizeIs(2));
  EXPECT_THAT(mail().list(JobState::ready, {.after = page.next.value()}).jobs, SizeIs(1));
}

TEST_P(EngineLook, StatsOfAnEmptyQueueAreZero) {
  const QueueStats stats = mail().stats();

  EXPECT_EQ(stats.queue, mail().name());
  EXPECT_EQ(stats.scheduled + stats.ready + stats.active + stats.dead + stats.done, 0U);
  EXPECT_FALSE(stats.is_paused || stats.oldest_due);
}

TEST_P(EngineLook, StatsNameTheFirstDueTime) {
  mail().put({.delay = 2s});
  const auto first = mail().put({.delay = 1s}).due_at;

  EXPECT_EQ(mail().stats().oldest_due, first);
}

TEST_P(EngineLook, StatsAddUpAfterEverything) {
  NEEDS(has_leases);
  mail().put_all(std::vector<NewJob>(10));
  const auto jobs = mail().claim_many(8, 10s);
  mail().ack({held_of(jobs)[0], held_of(jobs)[1]});
  mail().fail(jobs[2], {.retry_in = 1h});
  mail().fail(jobs[3], {.then = Failure::Then::give_up});
  mail().fail(jobs[4], {.then = Failure::Then::give_up});
  mail().fail(jobs[5], {.then = Failure::Then::give_up});
  mail().release(jobs[6]);
  mail().cancel(mail().list(JobState::ready).jobs.at(0).id);
  mail().replay(jobs[3].id);
  mail().purge(jobs[4].id);
  clock().advance(10s);
  mail().recover();

  const QueueStats stats = mail().stats();

  EXPECT_EQ(stats.scheduled, 1U);
  EXPECT_EQ(stats.ready, 4U);
  EXPECT_EQ(stats.active, 0U);
  EXPECT_EQ(stats.dead, 1U);
  EXPECT_EQ(stats.totals.put, 10U);
  EXPECT_EQ(stats.totals.claimed, 8U);
  EXPECT_EQ(stats.totals.acked, 2U);
  EXPECT_EQ(stats.totals.failed, 4U);
  EXPECT_EQ(stats.totals.died, 3U);
  EXPECT_EQ(stats.totals.released, 1U);
  EXPECT_EQ(stats.totals.cancelled, 1U);
  EXPECT_EQ(stats.totals.replayed, 1U);
  EXPECT_EQ(stats.totals.purged, 1U);
  EXPECT_EQ(stats.totals.lost_leases, 1U);
  EXPECT_EQ(stats.totals.dropped, 0U);
  EXPECT_EQ(stats.totals.put, stats.totals.acked + stats.totals.cancelled + stats.totals.purged +
                                  stats.scheduled + stats.ready + stats.active + stats.dead);
}

}  // namespace
}  // namespace duly::testing
