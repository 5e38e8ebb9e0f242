#include "tests/e2e/cli_fixture.h"
#include "tests/e2e/worker_fixture.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class CliCheck : public CliTest {};

TEST_F(CliCheck, AQueueThatIsWholeIsConsistent) {
  put({"mail", "x"});

  const ProgramEnd end = duly({"check"});

  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(end.out, "mail: consistent, 2 entries, 0 findings\n");
}

TEST_F(CliCheck, B04_DamageIsToldAndStaysWithoutRepair) {
  put({"mail", "x", "--id", "a"});
  ASSERT_EQ(redis_.cli("ZREM", "duly:{mail}:due", "a"), "1");

  for (int i = 0; i < 2; ++i) {
    const ProgramEnd end = duly({"check", "mail"});
    EXPECT_EQ(end.status, 1);
    EXPECT_EQ(end.out, "mail: damaged, 1 entries, 1 findings\n  no_place  a\n");
  }
}

TEST_F(CliCheck, B04_RepairMendsAndCounts) {
  put({"mail", "x", "--id", "a", "--in", "1h"});
  put({"mail", "x", "--id", "b", "--in", "1h"});
  ASSERT_EQ(redis_.cli("ZREM", "duly:{mail}:due", "a"), "1");
  ASSERT_EQ(redis_.cli("HDEL", "duly:{mail}:jobs", "b"), "1");

  const ProgramEnd end = duly({"check", "mail", "--repair", "--json"});

  EXPECT_EQ(end.status, 0) << end.err;
  const Json report = Json::parse(end.out);
  EXPECT_EQ(report.at("verdict"), "repaired");
  EXPECT_EQ(report.at("found"), 2);
  EXPECT_EQ(report.at("findings").size(), 2U);
  const Json stats = json({"stats", "mail"});
  EXPECT_EQ(stats.at("ready"), 1);
  EXPECT_EQ(stats.at("totals").at("repaired"), 1);
  EXPECT_EQ(stats.at("totals").at("dropped"), 1);
}

TEST_F(CliCheck, B05_AnUnreadableJobIsShownAsSuch) {
  put({"mail", "x", "--id", "bad"});
  ASSERT_EQ(redis_.cli("HSET", "duly:{mail}:jobs", "bad", "not a job"), "0");

  EXPECT_NE(duly({"ls", "mail"}).out.find("unreadable: not a job"), std::string::npos);
  EXPECT_NE(duly({"show", "mail", "bad"}).out.find("record        unreadable"), std::string::npos);
  EXPECT_EQ(json({"show", "mail", "bad"}).at("is_readable"), false);
}

class AdminCheck : public WorkerTest {};

TEST_F(AdminCheck, AQueueInFullUseIsConsistentAllTheWhile) {
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}, .concurrency = 4},
                             [](Attempt& attempt) {
                               if (attempt.job().payload == "fails") throw RetryAfter{1ms};
                               if (attempt.job().payload == "slow") {
                                 eventually([] { return false; }, 5ms);
                               }
                             });
  for (int i = 0; i < 10; ++i) {
    put_many(100, {.max_attempts = 3});
    put_many(10, {.payload = "slow"});
    put_many(10, {.payload = "fails", .max_attempts = 3});
    const CheckReport report = admin_.check("mail", CheckMode::repair);
    ASSERT_EQ(report.found, 0U) << to_string(report.findings.front().damage) << ' '
                                << report.findings.front().what;
  }
  EXPECT_TRUE(eventually([&] { return stats().totals.acked == 1100 && stats().dead == 100; }));
  EXPECT_EQ(stats().totals.repaired, 0U);
}

TEST_F(AdminCheck, B04_AWorkerFindsAndMendsDamageByItself) {
  const JobId lost = put({.delay = 1h});
  const JobId held = put();
  const auto claimed = client_.claim("mail", {.lease = 1h});
  ASSERT_EQ(claimed.size(), 1U);
  ASSERT_EQ(redis_.cli("ZREM", "duly:{mail}:due", lost.text()), "1");
  ASSERT_EQ(redis_.cli("ZREM", "duly:{mail}:leases", claimed.front().token.text()), "1");

  const RunningWorker worker(redis_.url(), {.queues = {"mail"}}, [](Attempt&) {});

  EXPECT_TRUE(worker.ends(2)) << worker.endings().size();
  EXPECT_EQ(stats().totals.repaired, 2U);
  EXPECT_EQ(look(held).state, JobState::done);
  EXPECT_EQ(admin_.check("mail").found, 0U);
}

}  // namespace
}  // namespace duly::testing
