#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using enum ChangeOutcome;

class EngineDead : public EngineContract {
 protected:
  /// Kills so many jobs, all now.
  void kill_many(std::size_t count) {
    for (std::size_t left = count; left > 0;) {
      const std::size_t piece = std::min(left, Limits::piece);
      mail().put_all(std::vector<NewJob>(piece));
      std::vector<FailRow> rows;
      for (const Held& held : held_of(mail().claim_many(piece))) {
        rows.push_back({held, {.then = Failure::Then::give_up}});
      }
      mail().fail(std::move(rows));
      left -= piece;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, EngineDead, every_engine(), kind_name);

TEST_P(EngineDead, AReplayedJobIsReadyWithFreshAttemptsAndKeepsItsLastError) {
  NEEDS(has_leases);
  mail().put({.payload = "bytes", .id = "a"_id, .max_attempts = 2, .backoff = {.base = 0ms}});
  mail().fail(mail().claim_one());
  mail().fail(mail().claim_one(), {.error = "broken"});
  const auto last_failed_at = mail().info("a"_id).last_failed_at;
  clock().advance(1h);

  EXPECT_EQ(mail().replay("a"_id), done);

  const JobInfo info = mail().info("a"_id);
  EXPECT_EQ(info.state, JobState::ready);
  EXPECT_EQ(info.due_at, clock().now());
  EXPECT_EQ(info.failures, 0U);
  EXPECT_EQ(info.last_error, "broken");
  EXPECT_EQ(info.last_failed_at, last_failed_at);
  EXPECT_FALSE(info.died_at || info.dead_reason);
  EXPECT_EQ(mail().stats().totals.replayed, 1U);
  EXPECT_EQ(mail().fail(mail().claim_one()), LeaseOutcome::failed);
  const ActiveJob last = mail().claim_one();
  EXPECT_EQ(last.attempt, 2U);
  EXPECT_EQ(last.payload, "bytes");
  EXPECT_EQ(mail().fail(last), LeaseOutcome::dead);
}

TEST_P(EngineDead, AReplayedQuarantinedJobMayLoseLeasesAgain) {
  NEEDS(has_leases);
  mail().put({.id = "a"_id});
  for (int i = 0; i < 3; ++i) {
    mail().claim_one(10s);
    clock().advance(10s);
    mail().recover();
  }

  EXPECT_EQ(mail().replay("a"_id), done);

  EXPECT_EQ(mail().info("a"_id).lost_leases, 0U);
  mail().claim_one(10s);
  clock().advance(10s);
  mail().recover();
  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
}

TEST_P(EngineDead, ReplayTakesDeadJobsOnly) {
  NEEDS(has_leases);
  put_and_claim({.id = "active"_id});
  put_and_kill({.id = "dead"_id});
  mail().put({.id = "ready"_id});

  EXPECT_THAT(mail().replay({"dead"_id, "active"_id, "ready"_id, "unknown"_id, "dead"_id}),
              ElementsAre(done, wrong_state, wrong_state, not_found, wrong_state));
  EXPECT_EQ(mail().stats().totals.replayed, 1U);
}

TEST_P(EngineDead, APurgedJobIsForgottenWithItsErrors) {
  NEEDS(has_leases);
  put_and_kill({.id = "a"_id});

  EXPECT_EQ(mail().purge("a"_id), done);

  EXPECT_FALSE(mail().find("a"_id));
  EXPECT_EQ(mail().stats().dead, 0U);
  EXPECT_EQ(mail().stats().totals.purged, 1U);
  mail().put({.id = "a"_id});
  EXPECT_EQ(mail().info("a"_id).last_error, "");
}

TEST_P(EngineDead, PurgeTakesDeadJobsOnly) {
  NEEDS(has_leases);
  put_and_claim({.id = "active"_id});
  put_and_kill({.id = "dead"_id});
  mail().put({.id = "ready"_id});

  EXPECT_THAT(mail().purge({"dead"_id, "active"_id, "ready"_id, "unknown"_id, "dead"_id}),
              ElementsAre(done, wrong_state, wrong_state, not_found, not_found));
  EXPECT_EQ(mail().stats().totals.purged, 1U);
}

TEST_P(EngineDead, ASweepReplaysThoseThatDiedByThen) {
  NEEDS(has_leases);
  put_and_kill({.id = "early"_id});
  clock().advance(1ms);
  const SystemTime by = clock().now();
  put_and_kill({.id = "in-time"_id});
  clock().advance(1ms);
  put_and_kill({.id = "late"_id});

  const DeadSweep sweep = mail().replay_dead(by);

  EXPECT_EQ(sweep.count, 2U);
  EXPECT_EQ(sweep.now, clock().now());
  EXPECT_EQ(mail().state_of("early"_id), JobState::ready);
  EXPECT_EQ(mail().state_of("in-time"_id), JobState::ready);
  EXPECT_EQ(mail().state_of("late"_id), JobState::dead);
  EXPECT_EQ(mail().stats().totals.replayed, 2U);
}

TEST_P(EngineDead, ASweepPurgesThoseThatDiedByThen) {
  NEEDS(has_leases);
  put_and_kill({.id = "early"_id});
  clock().advance(1ms);
  put_and_kill({.id = "late"_id});

  EXPECT_EQ(mail().purge_dead(clock().now() - 1ms).count, 1U);

  EXPECT_FALSE(mail().find("early"_id));
  EXPECT_EQ(mail().state_of("late"_id), JobState::dead);
}

TEST_P(EngineDead, ASweepTakesAPieceAtATimeTheLongestDeadFirst) {
  NEEDS(has_leases);
  kill_many(251);
  clock().advance(1ms);
  kill_many(50);

  EXPECT_EQ(mail().purge_dead(clock().now()).count, Limits::piece);
  EXPECT_EQ(mail().list(JobState::dead).jobs.at(49).died_at, clock().now());
  EXPECT_EQ(mail().list(JobState::dead).jobs.at(50).died_at, clock().now() - 1ms);
  EXPECT_EQ(mail().replay_dead(clock().now()).count, 51U);
  EXPECT_EQ(mail().replay_dead(clock().now()).count, 0U);
  EXPECT_EQ(mail().stats().totals.purged, 250U);
  EXPECT_EQ(mail().stats().ready, 51U);
}

}  // namespace
}  // namespace duly::testing
