#include <cstdlib>
#include <functional>
#include <random>

#include "tests/contract/engine_contract.h"
#include "tests/support/as_text.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

/// Drives the model and the lease engine side by side through random calls. DULY_SEED=n repeats a
/// run.
class RandomRun : public ::testing::TestWithParam<EngineKind> {
 protected:
  static constexpr int kSteps = 4'000;
  static constexpr int kStepsBetweenLooks = 50;
  static constexpr std::size_t kIds = 40;  // few, so that calls meet jobs in every state

  static std::uint64_t seed() {
    const char* const given = std::getenv("DULY_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }

  // Of 0 .. most.
  std::size_t pick(std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random_);
  }
  bool one_in(std::size_t n) { return pick(n - 1) == 0; }
  Milliseconds pick_ms(std::size_t most) { return Milliseconds{pick(most)}; }

  JobId pick_id() { return JobId("job" + std::to_string(pick(kIds - 1))); }
  std::vector<JobId> pick_ids() {
    std::vector<JobId> ids(1 + pick(3));
    for (JobId& id : ids) id = pick_id();
    return ids;
  }
  // What some claim has handed over, lately or long ago; sometimes nobody ever.
  Held pick_held() {
    if (held_.empty() || one_in(20)) return {pick_id(), LeaseToken("nobody")};
    const std::size_t back = pick(std::min<std::size_t>(held_.size() - 1, one_in(4) ? 200 : 8));
    Held held = held_[held_.size() - 1 - back];
    if (one_in(20)) held.id = pick_id();
    return held;
  }
  std::string pick_bytes() {
    std::string bytes(pick(12), '\0');
    for (char& byte : bytes) byte = static_cast<char>(pick(255));
    return bytes;
  }
  NewJob pick_job() {
    NewJob job{.type = "type" + std::to_string(pick(3)), .payload = pick_bytes(), .id = pick_id()};
    if (one_in(3)) {
      job.due_at = clock().now() - 3s + pick_ms(6'000);
      if (one_in(30)) job.due_at = Limits::last_due_at + 1ms;
    } else if (!one_in(3)) {
      job.delay = pick_ms(4'000);
    }
    if (one_in(3)) job.lease = one_in(2) ? 2s : 5s;
    if (one_in(2)) job.max_attempts = 1 + static_cast<std::uint32_t>(pick(3));
    job.backoff = {.kind = one_in(4) ? Backoff::Kind::fixed : Backoff::Kind::exponential,
                   .base = pick_ms(2'000),
                   .cap = one_in(3) ? 0ms : 5'000ms,
                   .factor = 1.0 + static_cast<double>(pick(20)) / 8,
                   .jitter = 0};
    return job;
  }

  ManualClock& clock() { return model_->clock(); }

  /// The same call to both; they must answer the same.
  void both(const std::string& what, const std::function<std::string(SyncQueue&)>& call) {
    const auto answer = [&](SyncQueue& queue) {
      try {
        return call(queue);
      } catch (const Error& error) {
        return "error " + std::string(to_string(error.code()));
      }
    };
    ASSERT_EQ(answer(of_model_), answer(of_redis_)) << what;
  }

  void advance(std::chrono::microseconds step) {
    model_->clock().advance(step);
    redis_->clock().advance(step);
  }

  void put() {
    std::vector<NewJob> jobs(1 + pick(4));
    for (NewJob& job : jobs) job = pick_job();
    const PutMode mode = one_in(4) ? PutMode::all_or_nothing : PutMode::each;
    both("put", [&](SyncQueue& queue) { return as_text(queue.put_all(jobs, mode)); });
  }
  void claim() {
    ClaimRequest request{.most = pick(6), .lease = 1s + pick_ms(5'000)};
    const std::size_t number = one_in(10) && tokens_ > 0 ? pick(tokens_ - 1) : tokens_++;
    request.token = LeaseToken("t" + std::to_string(number));
    if (one_in(3)) request.waiter = "waiter" + std::to_string(pick(2));
    both("claim", [&](SyncQueue& queue) {
      const ClaimReply reply = queue.claim(request);
      if (&queue == &of_model_) {
        for (const Held& held : held_of(reply.jobs)) held_.push_back(held);
      }
      return as_text(request.waiter.empty() ? reply : without_role(reply));
    });
  }
  // Who is the keeper depends on Redis's own time: a mark that expires.
  static ClaimReply without_role(ClaimReply reply) {
    reply.is_keeper = false;
    return reply;
  }
  void end_leases() {
    std::vector<Held> rows(1 + pick(3));
    for (Held& row : rows) row = pick_held();
    switch (pick(5)) {
      case 0:
      case 1:
        return both("ack", [&](SyncQueue& queue) { return as_text(queue.ack(rows)); });
      case 2:
        return both("release", [&](SyncQueue& queue) { return as_text(queue.release(rows)); });
      case 3: {
        std::vector<ExtendRow> extensions;
        for (const Held& held : rows) extensions.push_back({held, 500ms + pick_ms(8'000)});
        return both("extend",
                    [&](SyncQueue& queue) { return as_text(queue.extend_and_hear(extensions)); });
      }
      default: {
        std::vector<FailRow> failures;
        for (const Held& held : rows) {
          Failure failure{.error = pick_bytes()};
          if (one_in(3)) failure.retry_in = pick_ms(4'000);
          if (one_in(6)) failure.then = Failure::Then::give_up;
          failures.push_back({held, failure});
        }
        return both("fail", [&](SyncQueue& queue) { return as_text(queue.fail(failures)); });
      }
    }
  }
  void change() {
    const auto ids = pick_ids();
    switch (pick(4)) {
      case 0:
        return both("cancel", [&](SyncQueue& queue) { return as_text(queue.cancel(ids)); });
      case 1:
        return both("run now", [&](SyncQueue& queue) { return as_text(queue.run_now(ids)); });
      case 2:
        return both("replay", [&](SyncQueue& queue) { return as_text(queue.replay(ids)); });
      case 3: {
        std::vector<RescheduleRow> rows;
        for (const JobId& id : ids) {
          rows.push_back({.id = id, .delay = pick_ms(3'000)});
          if (one_in(3)) rows.back().due_at = clock().now() - 1s + pick_ms(2'000);
        }
        if (one_in(20)) rows.back().due_at = Limits::last_due_at + 1ms;
        return both("reschedule",
                    [&](SyncQueue& queue) { return as_text(queue.reschedule(rows)); });
      }
      default: {
        std::vector<EditRow> rows;
        for (const JobId& id : ids) rows.push_back({id, pick_bytes()});
        return both("edit", [&](SyncQueue& queue) { return as_text(queue.edit(rows)); });
      }
    }
  }
  void sweep() {
    const SystemTime by = clock().now() - pick_ms(5'000);
    switch (pick(4)) {
      case 0:
        return both("replay dead",
                    [&](SyncQueue& queue) { return as_text(queue.replay_dead(by)); });
      case 1:
        return both("purge dead", [&](SyncQueue& queue) { return as_text(queue.purge_dead(by)); });
      case 2: {
        const auto ids = pick_ids();
        return both("purge", [&](SyncQueue& queue) { return as_text(queue.purge(ids)); });
      }
      default:
        return both("recover", [](SyncQueue& queue) { return as_text(queue.recover()); });
    }
  }
  void pause_or_resume() {
    const bool is_pause = one_in(3);
    both(is_pause ? "pause" : "resume", [&](SyncQueue& queue) {
      is_pause ? queue.pause() : queue.resume();
      return std::string();
    });
  }

  void step() {
    const std::size_t kind = pick(99);
    if (kind < 20) return put();
    if (kind < 42) return claim();
    if (kind < 68) return end_leases();
    if (kind < 80) return change();
    if (kind < 84) return sweep();
    if (kind < 86) return pause_or_resume();
    advance(std::chrono::microseconds{pick(1'500'000)});
  }

  // After every step: counts, totals, and one job.
  void glance() {
    both("stats", [](SyncQueue& queue) { return as_text(queue.stats()); });
    const JobId id = pick_id();
    both("find", [&](SyncQueue& queue) { return as_text(queue.find(id)); });
    const QueueStats now = of_redis_.stats();
    const QueueStats::Totals& t = now.totals;
    ASSERT_EQ(t.put, t.acked + t.cancelled + t.purged + t.dropped + t.dead_dropped + now.scheduled +
                         now.ready + now.active + now.dead);
  }

  void look() {
    ASSERT_EQ(of_redis_.check().found, 0U) << ::testing::PrintToString(of_redis_.check().findings);
    ASSERT_THAT(of_redis_.summary().findings, ::testing::IsEmpty());
    for (std::size_t i = 0; i < kIds; ++i) {
      const JobId id("job" + std::to_string(i));
      both("find", [&](SyncQueue& queue) { return as_text(queue.find(id)); });
    }
    for (const JobState state :
         {JobState::scheduled, JobState::ready, JobState::active, JobState::dead}) {
      const std::size_t most = 1 + pick(9);
      both("list", [&](SyncQueue& queue) {
        std::string pages;
        for (std::optional<std::string> after = ""; after;) {
          JobPage page = queue.list(state, {.most = most, .after = *after});
          pages += as_text(page.jobs);
          after = page.next;
        }
        return pages;
      });
    }
  }

  const std::uint64_t seed_ = seed();
  std::mt19937_64 random_{seed_};
  std::unique_ptr<EngineHarness> model_ = make_harness(EngineKind::model);
  std::unique_ptr<EngineHarness> redis_ = make_harness(GetParam());
  SyncQueue of_model_{model_->engine(), "mail"};
  SyncQueue of_redis_{redis_->engine(), "mail"};
  std::vector<Held> held_;
  std::size_t tokens_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Engines, RandomRun, lease_engines(), kind_name);

TEST_P(RandomRun, TheEngineDoesWhatTheModelDoes) {
  for (int i = 0; i < kSteps && !HasFatalFailure(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i) + " of DULY_SEED=" + std::to_string(seed_));
    step();
    if (!HasFatalFailure()) glance();
    if (i % kStepsBetweenLooks == 0 && !HasFatalFailure()) look();
  }

  EXPECT_GT(of_model_.stats().totals.acked, 0U);
}

}  // namespace
}  // namespace duly::testing
