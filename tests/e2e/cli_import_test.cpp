#include <csignal>

#include "tests/e2e/cli_fixture.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_redis.h"

namespace duly::testing {
namespace {

using Words = std::vector<std::string>;

class CliImport : public CliTest {
 protected:
  void add(const std::string& key, const std::string& score, const std::string& member) {
    raw_.command({"ZADD", key, score, member});
  }

  void add_many(const std::string& key, const std::string& score, int count,
                const std::string& name) {
    Words words{"ZADD", key};
    for (int i = 0; i < count; ++i) {
      words.push_back(score);
      words.push_back(name + std::to_string(i));
    }
    raw_.command(words);
  }

  std::string members(const std::string& key) { return redis_.cli("ZCARD", key); }

  /// The one JSON line of an import that ends so.
  Json import(const Words& more, int status = 0) {
    Words arguments{"--json", "import"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramEnd end = duly(arguments);
    EXPECT_EQ(end.status, status) << end.err;
    const auto lines = parse_lines(end.out);
    EXPECT_EQ(lines.size(), 1U);
    return lines.empty() ? Json::object() : lines.front();
  }

  RawRedis raw_{redis_.socket_path()};
};

TEST_F(CliImport, ASortedSetOfPayloadsBecomesJobsThatAreDueAtItsScores) {
  const std::string bytes{"\0\n\xff", 3};
  add("old", "4102444800.25", bytes);
  add("old", "4102444801", "later");

  const Json counts =
      import({"zset", "old", "--queue", "mail", "--type", "note", "--max-attempts", "3"});

  EXPECT_EQ(counts.at("created"), 2);
  EXPECT_EQ(counts.at("remaining"), 0);
  EXPECT_EQ(redis_.cli("EXISTS", "old"), "0");
  const auto jobs = json_lines({"ls", "mail"});
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].at("payload_base64"), "AAr/");
  EXPECT_EQ(jobs[0].at("due_at_ms"), 4'102'444'800'250);
  EXPECT_EQ(jobs[0].at("type"), "note");
  EXPECT_EQ(jobs[0].at("max_attempts"), 3);
  EXPECT_EQ(jobs[1].at("payload"), "later");
  EXPECT_EQ(json_lines({"queues"}).size(), 1U);
}

TEST_F(CliImport, ScoresInMillisecondsAreRoundedUp) {
  add("old", "4102444800000.5", "a");

  import({"zset", "old", "--queue", "mail", "--score", "ms"});

  EXPECT_EQ(json({"ls", "mail"}).at("due_at_ms"), 4'102'444'800'001);
}

TEST_F(CliImport, ASortedSetOfIdsAndAHashOfContentsBecomeJobsOfTheseIds) {
  add("timedTask_x", "1700000000", "order-7");
  add("timedTask_x", "4102444800", "order 8");
  raw_.command({"HSET", "timedTaskContent_x", "order-7", "seven", "order 8", "eight"});

  const ProgramEnd end =
      duly({"import", "zset-hash", "timedTask_x", "timedTaskContent_x", "--queue", "x"});

  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(end.out,
            "imported 2 jobs of timedTask_x into x: 2 created, 0 existed, 0 updated; due "
            "2023-11-14T22:13:20.000Z .. 2100-01-01T00:00:00.000Z\n");
  EXPECT_EQ(redis_.cli("EXISTS", "timedTask_x", "timedTaskContent_x"), "0");
  EXPECT_EQ(json({"show", "x", "order-7"}).at("payload"), "seven");
  EXPECT_EQ(json({"ls", "x", "--state", "scheduled"}).at("payload"), "eight");
}

TEST_F(CliImport, WhatCannotBeAJobStaysInItsPlaceIsToldByReasonAndHoldsUpNothing) {
  add_many("old", "-1", 300, "before");
  add("old", "inf", "endless");
  add("old", "253402300800", "tenthousand");
  add("old", "1700000000", std::string(1024UL * 1024 + 1, 'x'));
  add_many("old", "1700000001", 300, "good");

  const Json counts = import({"zset", "old", "--queue", "mail"}, 7);

  EXPECT_EQ(counts.at("created"), 300);
  EXPECT_EQ(counts.at("left").at("not_a_time"), 302);
  EXPECT_EQ(counts.at("left").at("too_large"), 1);
  EXPECT_EQ(counts.at("remaining"), 303);
  EXPECT_EQ(members("old"), "303");
  const ProgramEnd again = duly({"import", "zset", "old", "--queue", "mail"});
  EXPECT_EQ(again.status, 7);
  EXPECT_NE(again.out.find("left 302 there: score is not a time"), std::string::npos) << again.out;
  EXPECT_NE(again.out.find("left 1 there: payload beyond the limit"), std::string::npos);
}

TEST_F(CliImport, AnIdWithoutContentStays) {
  add("ids", "1", "a");
  add("ids", "2", "b");
  raw_.command({"HSET", "contents", "b", "x", "c", "of nobody"});

  const Json counts = import({"zset-hash", "ids", "contents", "--queue", "mail"}, 7);

  EXPECT_EQ(counts.at("created"), 1);
  EXPECT_EQ(counts.at("left").at("no_content"), 1);
  EXPECT_EQ(redis_.cli("ZRANGE", "ids", "0", "-1"), "a");
  EXPECT_EQ(redis_.cli("HKEYS", "contents"), "c");
}

TEST_F(CliImport, AFullQueueTakesWhatHasRoomAndTheDryRunForetellsIt) {
  ASSERT_EQ(duly({"limits", "mail", "--length", "300"}).status, 0);
  add_many("old", "4102444800", 700, "m");
  add("old", "-1", "bad");

  const Json foretold = import({"zset", "old", "--queue", "mail", "--dry-run"});
  EXPECT_EQ(members("old"), "701");
  EXPECT_EQ(json({"stats", "mail"}).at("scheduled"), 0);
  const Json counts = import({"zset", "old", "--queue", "mail"}, 7);

  EXPECT_EQ(counts.at("created"), 300);
  EXPECT_EQ(counts.at("left").at("full"), 400);
  EXPECT_EQ(foretold.at("created"), counts.at("created"));
  EXPECT_EQ(foretold.at("left"), counts.at("left"));
  EXPECT_EQ(foretold.at("is_dry_run"), true);
  EXPECT_EQ(members("old"), "401");
}

TEST_F(CliImport, ADryRunLeavesRedisAsItIs) {
  add_many("old", "4102444800", 600, "m");
  const std::string before = redis_.cli("DUMP", "old");

  const ProgramEnd end = duly({"import", "zset", "old", "--queue", "mail", "--dry-run"});

  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out.substr(0, end.out.find(';')),
            "would import 600 jobs of old into mail: 600 created, 0 existed, 0 updated");
  EXPECT_EQ(redis_.cli("KEYS", "*"), "old");
  EXPECT_EQ(redis_.cli("DUMP", "old"), before);
}

TEST_F(CliImport, AMemberThatIsAddedAgainMovesItsWaitingJobAndIsKeptWhileThatRuns) {
  raw_.command({"HSET", "contents", "a", "first"});
  add("ids", "4102444800", "a");
  const Words line{"zset-hash", "ids", "contents", "--queue", "mail"};
  EXPECT_EQ(import(line).at("created"), 1);

  raw_.command({"HSET", "contents", "a", "second"});
  add("ids", "1", "a");
  EXPECT_EQ(import(line).at("updated"), 1);
  const Json job = json({"claim", "mail"});
  EXPECT_EQ(job.at("payload"), "second");

  raw_.command({"HSET", "contents", "a", "third"});
  add("ids", "1", "a");
  EXPECT_EQ(import(line, 7).at("left").at("in_use"), 1);
  EXPECT_EQ(members("ids"), "1");
  ASSERT_EQ(duly({"ack", "mail", "a", job.at("token")}).status, 0);
  EXPECT_EQ(import(line).at("created"), 1);
  EXPECT_EQ(json({"claim", "mail"}).at("payload"), "third");
}

TEST_F(CliImport, EnginesTakeTheirJobsOrRefuseByNameAndLeaveThem) {
  for (const std::string engine : {"list", "keyspace", "pop"}) {
    json({"queues", "create", engine, "--engine", engine});
    add("old-" + engine, "1", "hello");
  }

  for (const std::string engine : {"list", "keyspace"}) {
    EXPECT_EQ(import({"zset", "old-" + engine, "--queue", engine}).at("created"), 1);
    EXPECT_EQ(json({"claim", engine}).at("payload"), "hello");
  }
  const ProgramEnd end = duly({"import", "zset", "old-pop", "--queue", "pop"});
  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("engine 'pop': does not support import"), std::string::npos) << end.err;
  EXPECT_EQ(members("old-pop"), "1");
}

TEST_F(CliImport, NothingThereIsNoError) {
  const ProgramEnd end = duly({"import", "zset", "nothing", "--queue", "mail"});

  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out, "imported 0 jobs of nothing into mail\n");
  EXPECT_EQ(end.err, "duly: nothing to import: nothing is not there\n");
}

TEST_F(CliImport, WrongKeysAreRefusedAndNothingIsChanged) {
  raw_.command({"SET", "text", "x"});
  add("old", "1", "a");
  put({"mail", "x", "--id", "own"});
  const std::string keys = redis_.cli("DBSIZE");

  const auto refused = [&](const Words& more, const std::string& text) {
    Words arguments{"import"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramEnd end = duly(arguments);
    EXPECT_EQ(end.status, 2) << more[1];
    EXPECT_EQ(end.out, "") << more[1];
    EXPECT_NE(end.err.find(text), std::string::npos) << end.err;
  };
  refused({"zset", "text", "--queue", "mail"}, "source: not a sorted set");
  refused({"zset-hash", "old", "text", "--queue", "mail"}, "contents: not a hash");
  refused({"zset-hash", "old", "old", "--queue", "mail"}, "\"old\" is the sorted set");
  refused({"zset", "duly:{mail}:due", "--queue", "mail"}, "is duly's own");
  refused({"zset-hash", "old", "duly:{mail}:jobs", "--queue", "mail"}, "is duly's own");
  refused({"zset", "", "--queue", "mail"}, "sorted set: empty");
  refused({"zset", "old"}, "--queue");
  refused({"zset", "old", "--queue", "mail", "--score", "h"}, "expected s or ms");
  refused({"zset", "old", "--queue", "mail", "--dry-run", "--follow"}, "--follow");
  EXPECT_EQ(members("old"), "1");
  EXPECT_EQ(redis_.cli("DBSIZE"), keys);
  EXPECT_EQ(json({"stats", "mail"}).at("ready"), 1);
}

TEST_F(CliImport, FollowTakesWhatIsAddedUntilItIsStoppedAndTellsTheCounts) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const std::string queue = "q" + std::to_string(signal);
    add("old", "4102444800", "first");
    add("old", "-1", "bad");
    Program follow(line({"--json", "import", "zset", "old", "--queue", queue, "--follow"}));
    ASSERT_TRUE(eventually([&] { return members("old") == "1"; }));
    add("old", "4102444801", "second");
    add("old", "-2", "worse");
    ASSERT_TRUE(eventually([&] { return json({"stats", queue}).at("scheduled") == 2; }));
    ASSERT_EQ(redis_.cli("ZRANGE", "old", "0", "-1"), "worse bad");

    follow.signal(signal);
    const ProgramEnd end = follow.wait();

    EXPECT_EQ(end.status, 0) << end.err;
    const Json counts = parse_lines(end.out).at(0);
    EXPECT_EQ(counts.at("created"), 2);
    EXPECT_GE(counts.at("left").at("not_a_time"), 1);  // Each once, however often it was seen.
    EXPECT_LE(counts.at("left").at("not_a_time"), 2);
    raw_.command({"DEL", "old"});
  }
}

TEST_F(CliImport, FollowGoesOnAfterRedisWasAway) {
  Program follow(
      line({"--timeout", "300ms", "import", "zset", "old", "--queue", "mail", "--follow"}));
  add("old", "4102444800", "before");
  ASSERT_TRUE(eventually([&] { return members("old") == "0"; }));

  redis_.stop(SIGKILL);
  ASSERT_TRUE(
      eventually([&] { return follow.err().find("goes on when it can") != std::string::npos; }));
  redis_.start();
  RawRedis(redis_.socket_path()).command({"ZADD", "old", "4102444800", "after"});
  EXPECT_TRUE(eventually([&] { return json({"stats", "mail"}).at("scheduled") == 1; }));

  follow.signal(SIGTERM);
  const ProgramEnd end = follow.wait();
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_NE(end.out.find("imported 2 jobs"), std::string::npos) << end.out;
}

TEST_F(CliImport, ASilentRedisEndsItWith4AndTheCountsAndNothingIsLostOrDoubled) {
  for (int part = 0; part < 60; ++part) {
    add_many("old", "4102444800", 1'000, "m" + std::to_string(part) + "-");
  }
  Program import(line({"--timeout", "200ms", "import", "zset", "old", "--queue", "mail"}));
  ASSERT_TRUE(eventually([&] { return std::stol(members("old")) < 59'000; }));

  redis_.kill(SIGSTOP);
  const ProgramEnd end = import.wait();
  redis_.kill(SIGCONT);

  EXPECT_EQ(end.status, 4) << end.err;
  EXPECT_EQ(end.out.find("imported "), 0U) << end.out;
  EXPECT_NE(end.err.find("the link broke in "), std::string::npos) << end.err;
  ASSERT_GT(std::stol(members("old")), 0);
  EXPECT_EQ(duly({"import", "zset", "old", "--queue", "mail"}).status, 0);
  EXPECT_EQ(json({"stats", "mail"}).at("scheduled"), 60'000);
  EXPECT_EQ(json({"stats", "mail"}).at("totals").at("put"), 60'000);
}

TEST_F(CliImport, FollowCountsWhatIsLeftOnceHoweverOftenItIsSeen) {
  add_many("old", "-1", 300, "bad");
  Program follow(line({"--json", "import", "zset", "old", "--queue", "mail", "--follow"}));
  for (int n = 0; n < 3; ++n) {  // Each is taken by another pass.
    add("old", "4102444800", "good" + std::to_string(n));
    ASSERT_TRUE(eventually([&] { return members("old") == "300"; }));
  }

  follow.signal(SIGTERM);
  const ProgramEnd end = follow.wait();

  EXPECT_EQ(end.status, 0) << end.err;
  const Json counts = parse_lines(end.out).at(0);
  EXPECT_EQ(counts.at("created"), 3);
  EXPECT_LE(counts.at("left").at("not_a_time"), 300);
}

TEST_F(CliImport, HelpAndCompletionKnowTheQueueOption) {
  put({"mail", "x"});
  const std::string script =
      "export DULY_REDIS=\"$1\"; source <(\"$0\" completion bash); "
      "COMP_WORDS=(duly import zset old --queue m); COMP_CWORD=5; _duly; echo \"${COMPREPLY[@]}\"";

  const ProgramEnd end = run_program({"bash", "--norc", "-c", script, binary(), redis_.url()},
                                     {.environment = {{"PATH", DULY_BINARY_DIR ":/usr/bin:/bin"}}});

  EXPECT_EQ(end.out, "mail\n") << end.err;
  EXPECT_NE(duly({"import", "zset-hash", "--help"}).out.find("timedTaskContent_x"),
            std::string::npos);
}

}  // namespace
}  // namespace duly::testing
