#include <atomic>
#include <charconv>
#include <stdexcept>

#include "tests/e2e/worker_fixture.h"

struct Order {
  int number = 0;
};

template <>
struct duly::Codec<Order> {
  static std::string encode(const Order& order) { return std::to_string(order.number); }
  static Order decode(std::string_view bytes) {
    Order order;
    const auto [end, error] = std::from_chars(bytes.begin(), bytes.end(), order.number);
    if (error != std::errc{} || end != bytes.end()) throw std::runtime_error("no number");
    return order;
  }
};

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

/// How one attempt ends and what it leaves behind.
class WorkerEnds : public WorkerTest {
 protected:
  /// Runs one job by this handler and answers how its first attempt ended.
  Ending run_one(NewJob job, Handler handler, const std::string& type = "") {
    id_ = put(std::move(job));
    RunningWorker worker(redis_.url(), {.queues = {"mail"}}, std::move(handler), type);
    EXPECT_TRUE(worker.ends(1));
    return worker.endings().at(0);
  }

  /// Until the job runs again, by what Redis knows.
  std::chrono::milliseconds wait_left() {
    const JobInfo job = look(id_);
    return job.due_at.value() - job.last_failed_at.value();
  }

  JobId id_;
};

constexpr Backoff kExact{.base = 7s, .cap = 60s, .jitter = 0};

TEST_F(WorkerEnds, AHandlerThatReturnsAcksTheJob) {
  const Ending end = run_one({.type = "note", .payload = "hello"}, [](Attempt& attempt) {
    const ActiveJob& job = attempt.job();
    if (job.type != "note" || job.payload != "hello" || job.attempt != 1) {
      throw std::runtime_error("not the job that was put");
    }
  });

  EXPECT_EQ(end.outcome, LeaseOutcome::acked) << end.error;
  EXPECT_EQ(end.id, id_);
  EXPECT_EQ(end.error, "");
  EXPECT_GE(end.lateness, 0ns);
  EXPECT_GT(end.run_time, 0ns);
  EXPECT_EQ(look(id_).state, JobState::done);
  EXPECT_EQ(stats().totals.acked, 1U);
}

TEST_F(WorkerEnds, AnExceptionFailsTheAttemptWithBackoff) {
  const Ending end =
      run_one({.backoff = kExact}, [](Attempt&) { throw std::runtime_error("full"); });

  EXPECT_EQ(end.outcome, LeaseOutcome::failed);
  EXPECT_EQ(end.error, "full");
  EXPECT_EQ(look(id_).state, JobState::scheduled);
  EXPECT_EQ(look(id_).failures, 1U);
  EXPECT_EQ(look(id_).last_error, "full");
  EXPECT_EQ(wait_left(), 7s);
}

TEST_F(WorkerEnds, AnythingElseThrownFailsItToo) {
  const Ending end = run_one({.backoff = kExact}, [](Attempt&) { throw 42; });

  EXPECT_EQ(end.outcome, LeaseOutcome::failed);
  EXPECT_EQ(look(id_).last_error, "an exception that is no std::exception");
  EXPECT_EQ(wait_left(), 7s);
}

TEST_F(WorkerEnds, RetryAfterIsExact) {
  const Ending end =
      run_one({}, [](Attempt&) { throw RetryAfter{.delay = 12'345ms, .why = "closed at night"}; });

  EXPECT_EQ(end.outcome, LeaseOutcome::failed);
  EXPECT_EQ(look(id_).last_error, "closed at night");
  EXPECT_EQ(wait_left(), 12'345ms);
}

TEST_F(WorkerEnds, GiveUpMakesTheJobDead) {
  const Ending end = run_one({}, [](Attempt&) { throw GiveUp{"no such user"}; });

  EXPECT_EQ(end.outcome, LeaseOutcome::dead);
  EXPECT_EQ(look(id_).state, JobState::dead);
  EXPECT_EQ(look(id_).dead_reason, DeadReason::given_up);
  EXPECT_EQ(look(id_).last_error, "no such user");
}

TEST_F(WorkerEnds, TheLastFailureMakesTheJobDead) {
  const Ending end =
      run_one({.max_attempts = 1}, [](Attempt&) { throw std::runtime_error("full"); });

  EXPECT_EQ(end.outcome, LeaseOutcome::dead);
  EXPECT_EQ(look(id_).dead_reason, DeadReason::failed);
}

TEST_F(WorkerEnds, AJobOfATypeWithoutHandlerFailsWithBackoff) {
  const Ending end = run_one(
      {.type = "note", .backoff = kExact}, [](Attempt&) {}, "letter");

  EXPECT_EQ(end.outcome, LeaseOutcome::failed);
  EXPECT_EQ(look(id_).last_error, "no handler for type note");
  EXPECT_EQ(wait_left(), 7s);
}

TEST_F(WorkerEnds, ATypedHandlerGetsTheDecodedPayload) {
  const auto number = std::make_shared<std::atomic<int>>(0);
  const Ending end = run_one(
      typed_job("order", Order{.number = 17}),
      typed_handler<Order>([number](const Order& order, Attempt&) { *number = order.number; }));

  EXPECT_EQ(end.outcome, LeaseOutcome::acked);
  EXPECT_EQ(*number, 17);
}

TEST_F(WorkerEnds, APayloadThatDoesNotDecodeMakesTheJobDead) {
  const Ending end = run_one({.type = "order", .payload = "seventeen"},
                             typed_handler<Order>([](const Order&, Attempt&) {}));

  EXPECT_EQ(end.outcome, LeaseOutcome::dead);
  EXPECT_EQ(look(id_).dead_reason, DeadReason::given_up);
  EXPECT_EQ(look(id_).last_error, "payload does not decode: no number");
}

TEST_F(WorkerEnds, AFailedJobRunsAgainAsTheNextAttempt) {
  const JobId id = put({.backoff = {.base = 0ms}});
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}}, [](Attempt& attempt) {
    if (attempt.job().attempt < 3) throw std::runtime_error("not yet");
  });

  ASSERT_TRUE(worker.ends(3));

  EXPECT_EQ(worker.endings().at(2).attempt, 3U);
  EXPECT_EQ(worker.endings().at(2).outcome, LeaseOutcome::acked);
  EXPECT_EQ(stats().totals.failed, 2U);
}

TEST_F(WorkerEnds, CountsWhatItDid) {
  put();
  put({.payload = "fail"});
  put({.payload = "dead"});
  RunningWorker worker(redis_.url(), {.queues = {"mail"}}, [](Attempt& attempt) {
    if (attempt.job().payload == "fail") throw std::runtime_error("full");
    if (attempt.job().payload == "dead") throw GiveUp{};
  });

  ASSERT_TRUE(worker.ends(3));

  const WorkerStats stats = worker.worker().stats();
  EXPECT_EQ(stats.acked, 1U);
  EXPECT_EQ(stats.failed, 2U);
  EXPECT_EQ(stats.died, 1U);
  EXPECT_EQ(stats.running, 0U);
  EXPECT_GE(stats.claims, 1U);
}

TEST_F(WorkerEnds, TellsOfEveryEndingBeforeTheWorkerIsGone) {
  std::atomic<int> told = 0;
  put_many(20);
  {
    Worker worker(Connection(redis_.url()), {.queues = {"mail"}, .on_finished = [&](const auto&) {
                                               std::this_thread::sleep_for(5ms);
                                               ++told;
                                             }});
    worker.handle("", [](Attempt&) {});
    std::thread thread([&] { worker.run(); });
    EXPECT_TRUE(eventually([&] { return worker.stats().acked == 20; }));
    worker.stop();
    thread.join();
  }
  EXPECT_EQ(told, 20);
}

// ---- What it refuses ----

class WorkerRefuses : public WorkerTest {
 protected:
  std::string refusal_of(WorkerOptions options) {
    try {
      const Worker worker(Connection(redis_.url()), std::move(options));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "none";
  }
};

TEST_F(WorkerRefuses, OptionsOutOfRange) {
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal_of({}), HasSubstr("queues"));
  EXPECT_THAT(refusal_of({.queues = {"mail", "a b"}}), HasSubstr("queue"));
  EXPECT_THAT(refusal_of({.queues = {"mail"}, .concurrency = 0}), HasSubstr("concurrency: 0"));
  EXPECT_THAT(refusal_of({.queues = {"mail"}, .concurrency = 1001}),
              HasSubstr("concurrency: 1001"));
  EXPECT_THAT(refusal_of({.queues = {"mail", "sms", "mail"}}), HasSubstr("queues: mail twice"));
  EXPECT_THAT(refusal_of({.queues = {{"mail", {.weight = 0}}}}), HasSubstr("weight of mail: 0"));
  EXPECT_THAT(refusal_of({.queues = {{"mail", {.weight = 1'000'001}}}}),
              HasSubstr("weight of mail: 1000001"));
  EXPECT_THAT(refusal_of({.queues = {{"mail", {.reserved = 2}}, {"sms", {.reserved = 2}}},
                          .concurrency = 3}),
              HasSubstr("reserved: more than 3 slots"));
  EXPECT_THAT(refusal_of({.queues = {"mail"}, .lease = 99ms}), HasSubstr("lease: 99 ms"));
  EXPECT_THAT(refusal_of({.queues = {"mail"}, .grace = -1ms}), HasSubstr("grace"));
  EXPECT_EQ(refusal_of({.queues = {"mail"}, .concurrency = 1000, .lease = 100ms, .grace = 0ms}),
            "none");
}

TEST_F(WorkerRefuses, ASecondRunAndALateHandler) {
  Worker worker(Connection(redis_.url()), {.queues = {"mail"}});
  worker.stop();
  worker.run();

  EXPECT_THROW(worker.run(), Error);
  EXPECT_THROW(worker.handle("", [](Attempt&) {}), Error);
}

}  // namespace
}  // namespace duly::testing
