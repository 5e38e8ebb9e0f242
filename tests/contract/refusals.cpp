#include "tests/contract/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace duly::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

template <class Call>
void expect_refused(const Capabilities& can, const std::string& what, Call call) {
  try {
    call();
    ADD_FAILURE() << what << " was not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("engine '" + std::string(can.name) + "'"));
    EXPECT_THAT(error.what(), HasSubstr("does not support " + what));
  }
}

const Held kHeld{JobId("a"), LeaseToken("t1")};

void expect_no_leases(const Capabilities& can, SyncQueue& queue) {
  queue.put({.id = JobId("a")});
  const ActiveJob job = queue.claim_one();
  EXPECT_EQ(job.id, JobId("a"));
  EXPECT_TRUE(job.token.empty());
  EXPECT_TRUE(queue.claim_many().empty());
  expect_refused(can, "ack", [&] { queue.ack(kHeld); });
  expect_refused(can, "fail", [&] { queue.fail(kHeld); });
  expect_refused(can, "release", [&] { queue.release(kHeld); });
  expect_refused(can, "extend", [&] { queue.extend(kHeld, 1s); });
  expect_refused(can, "recover", [&] { queue.recover(); });
  expect_refused(can, "replay", [&] { queue.replay(kHeld.id); });
  expect_refused(can, "purge", [&] { queue.purge(kHeld.id); });
}

// A claim's longest lease holds for all its jobs.
void expect_one_length(SyncQueue& queue, ManualClock& clock) {
  queue.put({.id = JobId("a")});
  queue.put({.id = JobId("b"), .lease = 60s});
  const auto jobs = queue.claim_many(2, 30s);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].token, jobs[1].token);
  clock.advance(59s);
  EXPECT_EQ(queue.recover(), 0U);
  clock.advance(1s);
  EXPECT_EQ(queue.recover(), 2U);
}

void expect_no_changes(const Capabilities& can, SyncQueue& queue) {
  queue.put({.delay = 1s, .id = JobId("a")});
  expect_refused(can, "cancel", [&] { queue.cancel(JobId("a")); });
  expect_refused(can, "reschedule", [&] { queue.reschedule({.id = JobId("a")}); });
  expect_refused(can, "run_now", [&] { queue.run_now(JobId("a")); });
  expect_refused(can, "edit", [&] { queue.edit(JobId("a"), "new"); });
  EXPECT_EQ(queue.stats().scheduled, 1U);
}

void expect_no_priorities(const Capabilities& can, SyncQueue& queue) {
  const PutResult result = queue.put({.id = JobId("a"), .priority = 5});
  EXPECT_EQ(result.outcome, PutOutcome::refused);
  EXPECT_EQ(result.error.value().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(result.error.value().what(), HasSubstr("engine '" + std::string(can.name) + "'"));
  EXPECT_EQ(queue.stats().ready, 0U);
}

// Jobs that have lost two leases run beside others.
void expect_no_isolation(SyncQueue& queue, ManualClock& clock) {
  queue.put({.id = JobId("a")});
  queue.put({.id = JobId("b")});
  for (int lost = 0; lost < 2; ++lost) {
    EXPECT_EQ(queue.claim_many(2, 1s).size(), 2U);
    clock.advance(1s);
  }
  EXPECT_EQ(queue.claim_many(2, 1s).size(), 2U);
}

// It waits for messages of Redis's own, not for a due time.
void expect_no_keeper(SyncQueue& queue) {
  queue.put({.delay = 1s, .id = JobId("a")});
  const ClaimReply reply = queue.claim({.most = 1, .waiter = "duly:{mail}:wake:me"});
  EXPECT_TRUE(reply.jobs.empty());
  EXPECT_TRUE(reply.is_parked);
  EXPECT_FALSE(reply.is_keeper);
  EXPECT_FALSE(reply.next_in.has_value());
}

}  // namespace

void expect_refusal(bool Capabilities::*ability, const Capabilities& can, SyncQueue& queue,
                    ManualClock& clock) {
  if (!can.has_leases &&
      (ability == &Capabilities::has_leases || ability == &Capabilities::has_lease_lengths ||
       ability == &Capabilities::isolates_suspects)) {
    return expect_no_leases(can, queue);
  }
  if (ability == &Capabilities::has_lease_lengths) return expect_one_length(queue, clock);
  if (ability == &Capabilities::isolates_suspects) return expect_no_isolation(queue, clock);
  if (ability == &Capabilities::has_changes) return expect_no_changes(can, queue);
  if (ability == &Capabilities::has_priorities) return expect_no_priorities(can, queue);
  if (ability == &Capabilities::has_keeper) return expect_no_keeper(queue);
  if (ability == &Capabilities::has_ids) {
    expect_refused(can, "find", [&] { queue.find(JobId("a")); });
    return expect_refused(can, "list", [&] { queue.list(JobState::ready); });
  }
  if (ability == &Capabilities::has_retention) {
    return expect_refused(can, "retention", [&] { queue.set_limits({.done_age = 1h}); });
  }
  ADD_FAILURE() << "no refusal is known of this ability";
}

}  // namespace duly::testing
