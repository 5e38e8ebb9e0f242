#include <algorithm>
#include <map>

#include "tests/e2e/cli_fixture.h"
#include "tests/e2e/worker_fixture.h"
#include "tests/support/worker_process.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class EnginesCli : public CliTest {};

TEST_F(EnginesCli, EachTellsWhatItGuarantees) {
  const auto lines = json_lines({"engines"});
  const std::string table = duly({"engines"}).out;

  ASSERT_EQ(lines.size(), kEngineNames.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("engine"), to_string(kEngineNames[i]));
    EXPECT_EQ(lines[i].at("delivers"),
              lines[i].at("has_leases").get<bool>() ? "at least once" : "at most once");
    EXPECT_THAT(table, HasSubstr(std::string(to_string(kEngineNames[i]))));
  }
}

TEST_F(EnginesCli, AQueueIsMadeOnceAndKeepsItsEngine) {
  EXPECT_EQ(json({"queues", "create", "mail", "--engine", "list"}).at("outcome"), "created");
  EXPECT_EQ(json({"queues", "create", "mail", "--engine", "list"}).at("outcome"), "exists");
  const ProgramEnd other = duly({"queues", "create", "mail", "--engine", "pop"});

  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("engine: the queue is of engine 'list', expected 'pop'"));
  EXPECT_EQ(json({"stats", "mail"}).at("engine"), "list");
  EXPECT_EQ(duly({"queues"}).out, "mail\n");
}

TEST_F(EnginesCli, AQueueThatAPutHasMadeIsOfEngineLease) {
  put({"mail", "hello"});

  EXPECT_EQ(duly({"queues", "create", "mail", "--engine", "pop"}).status, 2);
  EXPECT_EQ(json({"queues", "create", "mail"}).at("outcome"), "exists");
  EXPECT_EQ(json({"stats", "mail"}).at("engine"), "lease");
}

TEST_F(EnginesCli, AnUnknownEngineIsRefusedAndNothingIsMade) {
  const ProgramEnd end = duly({"queues", "create", "mail", "--engine", "rabbit"});

  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("'rabbit', expected lease, pop, list, stream or keyspace"));
  EXPECT_EQ(redis_.cli("DBSIZE"), "0");
}

TEST_F(EnginesCli, PutAndClaimFindTheEngineAndItRefusesByName) {
  json({"queues", "create", "mail", "--engine", "pop"});
  const std::string id = put({"mail", "hello"});
  const Json job = json({"claim", "mail"});
  const ProgramEnd refused = duly({"ack", "mail", id, "t1"});

  EXPECT_EQ(job.at("id"), id);
  EXPECT_EQ(job.at("payload"), "hello");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("engine 'pop': does not support ack"));
  EXPECT_EQ(duly({"show", "mail", id}).status, 2);
}

TEST_F(EnginesCli, KeyspaceNeedsExpiryEventsAndSetsThem) {
  json({"queues", "create", "mail", "--engine", "keyspace"});

  EXPECT_THAT(redis_.cli("CONFIG", "GET", "notify-keyspace-events"), HasSubstr("xE"));
}

TEST_F(EnginesCli, KeyspaceIsRefusedWithTheSettingWhereWeMayNotSetIt) {
  ASSERT_EQ(
      redis_.cli("ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-config|set"),
      "OK");
  const std::string url = "unix://plain:secret@" + redis_.socket_path();
  const ProgramEnd end =
      run_program({binary(), "--redis", url, "queues", "create", "mail", "--engine", "keyspace"});

  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("CONFIG SET notify-keyspace-events Ex"));
  EXPECT_EQ(redis_.cli("EXISTS", "duly:{mail}:meta"), "0");
}

class Engines : public WorkerTest, public ::testing::WithParamInterface<EngineName> {};

TEST_P(Engines, B10_TwoWorkersRunEveryJobOnceAndNoneEarly) {
  constexpr std::size_t kJobs = 300;
  admin_.create("mail", GetParam());
  const auto handler = [](Attempt&) {};
  const RunningWorker one(redis_.url(), {.queues = {"mail"}}, handler);
  const RunningWorker two(redis_.url(), {.queues = {"mail"}}, handler);

  for (std::size_t i = 0; i < kJobs; ++i) put({.delay = Milliseconds{i}});

  EXPECT_TRUE(
      eventually([&] { return one.endings().size() + two.endings().size() == kJobs; }, 15s));
  std::map<JobId, int> runs;
  for (const RunningWorker* const worker : {&one, &two}) {
    for (const Ending& ending : worker->endings()) {
      ++runs[ending.id];
      EXPECT_EQ(ending.outcome, LeaseOutcome::acked);
      EXPECT_GE(ending.lateness, 0ns);
    }
  }
  EXPECT_EQ(runs.size(), kJobs);
  const QueueStats after = stats();
  EXPECT_EQ(after.totals.claimed, kJobs);
  EXPECT_EQ(after.ready + after.scheduled + after.active, 0U);
  EXPECT_EQ(after.totals.swept, 0U);
}

TEST_P(Engines, AStoppedWorkerLosesNothingThatItHasNotStarted) {
  constexpr std::size_t kJobs = 20;
  admin_.create("mail", GetParam());
  put_many(kJobs, {.delay = 300ms});
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .concurrency = 1},
                       [](Attempt&) { std::this_thread::sleep_for(10ms); });
  ASSERT_TRUE(worker.ends(3));

  worker.worker().stop();
  worker.wait();

  EXPECT_EQ(worker.endings().size() + stats().ready, kJobs);
}

INSTANTIATE_TEST_SUITE_P(Each, Engines, ::testing::ValuesIn(kEngineNames),
                         [](const auto& one) { return std::string(to_string(one.param)); });

class EngineList : public WorkerTest {};

class Retrying : public WorkerTest, public ::testing::WithParamInterface<EngineName> {};

TEST_P(Retrying, B02_WhatAKilledWorkerHeldGoesBack) {
  admin_.create("mail", GetParam());
  put_many(10);
  WorkerProcess killed({.url = redis_.url(), .lease = 500ms, .behaviour = "ms:60000"});
  ASSERT_TRUE(eventually([&] { return killed.deliveries().size() == 10; })) << killed.err();
  EXPECT_EQ(stats().active, 10U);
  const RunningWorker idle(redis_.url(), {.queues = {"mail"}}, [](Attempt&) {});

  killed.signal(SIGKILL);
  killed.wait();

  EXPECT_TRUE(idle.ends(10));
  EXPECT_EQ(stats().totals.lost_leases, 10U);
  EXPECT_EQ(stats().totals.acked, 10U);
}

INSTANTIATE_TEST_SUITE_P(Each, Retrying, ::testing::Values(EngineName::list, EngineName::stream),
                         [](const auto& one) { return std::string(to_string(one.param)); });

TEST_F(EngineList, TheExpiryOfARecordNeverCutsItsJobOff) {
  admin_.create("mail", EngineName::list);
  const std::string key = "duly:{mail}:job:";
  const auto days_left = [&](const JobId& id) {
    return std::stoll(redis_.cli("PTTL", key + id.text())) / 86'400'000;
  };
  const JobId now = put();
  const JobId old = put({.due_at = SystemTime{}});
  const JobId late = put({.delay = 87'600h});  // ten years

  EXPECT_GT(days_left(now), 3600);
  EXPECT_GT(days_left(old), 3600);
  EXPECT_GT(days_left(late), 7200);
  admin_.run_now("mail", late);
  EXPECT_GT(days_left(late), 3600);
  for (const ActiveJob& job : client_.claim("mail", {.most = 3})) client_.ack(job);
  EXPECT_EQ(redis_.cli("EXISTS", key + now.text(), key + old.text(), key + late.text()), "0");
}

TEST_F(EngineList, StatsNameTheFirstJobThatNobodyHasTaken) {
  admin_.create("mail", EngineName::list);
  for (const int ms : {1000, 2000, 3000}) put({.due_at = SystemTime{Milliseconds{ms}}});

  ASSERT_EQ(client_.claim("mail", {.most = 1}).size(), 1U);

  EXPECT_EQ(stats().oldest_due, SystemTime{2s});
  EXPECT_EQ(stats().ready, 2U);
  EXPECT_EQ(stats().active, 1U);
}

class EngineStream : public WorkerTest {};

TEST_F(EngineStream, OnlyWhatIsDueEntersAndAckedEntriesLeave) {
  admin_.create("mail", EngineName::stream);
  put({.delay = 1h});
  put_many(5);
  const auto length = [&] { return redis_.cli("XLEN", "duly:{mail}:ready"); };

  const auto jobs = client_.claim("mail", {.most = 10});
  ASSERT_EQ(jobs.size(), 5U);
  EXPECT_EQ(length(), "5");
  for (const ActiveJob& job : jobs) EXPECT_EQ(client_.ack(job), LeaseOutcome::acked);

  EXPECT_EQ(length(), "0");
  EXPECT_EQ(redis_.cli("XINFO", "CONSUMERS", "duly:{mail}:ready", "duly"), "");
  EXPECT_EQ(stats().scheduled, 1U);
}

TEST_F(EngineStream, AGroupThatIsLostIsMadeAgainAndNoJobIsLost) {
  admin_.create("mail", EngineName::stream);
  put_many(3);
  ASSERT_EQ(client_.claim("mail", {.most = 1}).size(), 1U);
  ASSERT_EQ(redis_.cli("XGROUP", "DESTROY", "duly:{mail}:ready", "duly"), "1");

  EXPECT_EQ(client_.claim("mail", {.most = 10}).size(), 3U);
}

class EngineKeyspace : public WorkerTest {};

TEST_F(EngineKeyspace, TheSweepFindsWhatNobodyHeard) {
  admin_.create("mail", EngineName::keyspace);
  const JobId missed = put({.delay = 10ms});
  ASSERT_TRUE(eventually(
      [&] { return redis_.cli("EXISTS", "duly:{mail}:timer:" + missed.text()) == "0"; }));
  const RunningWorker worker(redis_.url(), {.queues = {"mail"}}, [](Attempt&) {});

  put({.delay = 10ms});  // heard

  ASSERT_TRUE(worker.ends(1));
  EXPECT_EQ(stats().totals.swept, 0U);
  ASSERT_TRUE(worker.ends(2, 12s));
  EXPECT_EQ(worker.endings()[1].id, missed);
  EXPECT_EQ(stats().totals.swept, 1U);
}

}  // namespace
}  // namespace duly::testing
