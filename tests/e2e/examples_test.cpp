// Each program of examples/ on a Redis of its own: what it prints, and what it leaves.
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "duly/admin.h"
#include "tests/support/eventually.h"
#include "tests/support/program.h"
#include "tests/support/redis_server.h"

namespace duly::testing {
namespace {

using ::testing::Test;

class Examples : public Test {
 protected:
  [[nodiscard]] std::vector<std::string> line(const std::string& name,
                                              const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{DULY_BINARY_DIR "/duly_example_" + name, redis_.url()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// What a program that must end well prints.
  std::string output_of(const std::string& name, const std::vector<std::string>& more = {}) const {
    const ProgramEnd end = run_program(line(name, more));
    EXPECT_EQ(end.status, 0) << end.err;
    return end.out;
  }

  RedisServer redis_;
  Admin admin_{Connection(redis_.url())};
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Examples, ProducerPutsThreeJobsOnce) {
  EXPECT_EQ(output_of("producer"),
            "1042-unpaid: created\n1042-reminder: created\n1042-review: created\n1042-unpaid "
            "again: exists\n");

  const auto job = admin_.find("shop", JobId("1042-unpaid"));
  ASSERT_TRUE(job);
  EXPECT_EQ(*job->due_at - job->put_at, std::chrono::minutes{30});
  EXPECT_EQ(job->payload, R"({"mail":"ada@example.org","number":1042})");
  EXPECT_EQ(admin_.stats("shop").scheduled, 3U);
}

TEST_F(Examples, ProducerTakesTheRedisOfTheEnvironment) {
  const ProgramEnd end = run_program({DULY_BINARY_DIR "/duly_example_producer"},
                                     {.environment = {{"DULY_REDIS", redis_.url()}}});

  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(admin_.stats("shop").scheduled, 3U);
}

TEST_F(Examples, ProducerSaysTheCodeOfAnError) {
  const ProgramEnd end = run_program({DULY_BINARY_DIR "/duly_example_producer", "ftp://nowhere"});

  EXPECT_EQ(end.status, 2);
  EXPECT_TRUE(has(end.err, "producer: invalid_argument: ")) << end.err;
}

TEST_F(Examples, WorkerAcksRetriesAndGivesUpUntilASignal) {
  output_of("producer");
  for (const char* what : {"unpaid", "reminder", "review"}) {
    ASSERT_EQ(admin_.run_now("shop", JobId(std::string("1042-") + what)), ChangeOutcome::done);
  }

  Program worker(line("worker"));
  EXPECT_TRUE(eventually([&] { return has(worker.out(), "1042-reminder: acked\n"); }))
      << worker.out();
  EXPECT_TRUE(eventually([&] { return has(worker.out(), "1042-unpaid: acked\n"); }))
      << worker.out();
  EXPECT_TRUE(eventually([&] {
    return has(worker.out(), "1042-review: dead (the customer wants no mail)\n");
  })) << worker.out();
  worker.signal(SIGTERM);
  const ProgramEnd end = worker.wait();

  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_TRUE(has(end.out, "1042-reminder: failed (mail server is busy)\n")) << end.out;
  EXPECT_TRUE(has(end.out, "acked 2, died 1\n")) << end.out;
}

TEST_F(Examples, TypedJsonRunsWhatFitsAndBuriesWhatDoesNot) {
  const std::string out = output_of("typed_json");

  EXPECT_TRUE(has(out, "for Ada: 2 kinds of things\n")) << out;
  EXPECT_TRUE(has(out, "acked\n")) << out;
  EXPECT_TRUE(has(out, "dead: payload does not decode: ")) << out;
  EXPECT_EQ(admin_.stats("parcels").dead, 1U);
}

TEST_F(Examples, OwnCodecComesBackAsItWent) {
  EXPECT_EQ(output_of("own_codec"), "order 1042: 4999 cents back\n");
  EXPECT_EQ(admin_.stats("refunds").totals.acked, 1U);
}

TEST_F(Examples, ByHandAcksFailsAndIsFenced) {
  const std::string out = output_of("by_hand");

  EXPECT_TRUE(has(out, "good, attempt 1 of 20\n  extended\n  acked\n")) << out;
  EXPECT_TRUE(has(out, "bad, attempt 1 of 2\n  extended\n  failed\n")) << out;
  EXPECT_TRUE(has(out, "bad, attempt 2 of 2\n  extended\n  dead\n")) << out;
  EXPECT_TRUE(has(out, "acked, then lease_lost\n")) << out;
}

TEST_F(Examples, InspectShowsQueuesAndCancelsAJob) {
  output_of("producer");

  EXPECT_EQ(output_of("inspect"),
            "shop: 3 scheduled, 0 ready, 0 active, 0 dead; 0 of 3 acked so far\n"
            "  1042-unpaid (unpaid), due 1800 s after its put\n"
            "  1042-reminder (reminder), due 86400 s after its put\n"
            "  1042-review (review), due 604800 s after its put\n");

  const std::string out = output_of("inspect", {"shop", "1042-unpaid"});
  EXPECT_TRUE(has(out, "cancel 1042-unpaid: done\nshop: 2 scheduled")) << out;
  EXPECT_TRUE(
      has(output_of("inspect", {"shop", "1042-unpaid"}), "cancel 1042-unpaid: not_found\n"));
}

}  // namespace
}  // namespace duly::testing
