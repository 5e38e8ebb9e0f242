#include "src/core/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace duly::core {
namespace {

using namespace std::chrono_literals;

/// A server without a fault.
ServerFacts healthy() {
  ServerFacts facts;
  facts.info.values = {{"redis_version", "7.0.15"},
                       {"role", "master"},
                       {"cluster_enabled", "0"},
                       {"aof_enabled", "1"},
                       {"rdb_last_bgsave_status", "ok"},
                       {"aof_last_write_status", "ok"},
                       {"aof_last_bgrewrite_status", "ok"},
                       {"maxmemory_policy", "noeviction"},
                       {"maxmemory", "100000000"},
                       {"used_memory", "1000000"},
                       {"mem_not_counted_for_evict", "0"},
                       {"total_system_memory", "1000000000"},
                       {"evicted_keys", "0"},
                       {"connected_clients", "3"},
                       {"maxclients", "100"}};
  facts.config.values = {{"appendfsync", "everysec"}, {"save", ""}};
  facts.ahead = 3ms;
  facts.pings.assign(100, 200us);
  facts.library = "0.1.0";
  facts.our_library = "0.1.0";
  facts.rights = {{"fcall", Right::Finding::granted},
                  {"evalsha", Right::Finding::granted},
                  {"zadd", Right::Finding::granted}};
  return facts;
}

Check check(const ServerFacts& facts, const std::string& name) {
  const auto checks = diagnose(facts);
  const auto found = std::find_if(checks.begin(), checks.end(),
                                  [&](const Check& line) { return line.name == name; });
  return found == checks.end() ? Check{"no check " + name, Verdict::unknown} : *found;
}

/// The verdict once one line of INFO reads so.
Verdict with_info(const std::string& name, const std::string& value, const std::string& of) {
  ServerFacts facts = healthy();
  facts.info.values[name] = value;
  return check(facts, of).verdict;
}

TEST(Doctor, FindsNothingAboutAHealthyServer) {
  for (const Check& line : diagnose(healthy())) {
    EXPECT_EQ(line.verdict, Verdict::ok) << line.name << ": " << line.reason;
    EXPECT_EQ(line.advice, "") << line.name;
    EXPECT_NE(line.found, "") << line.name;
    EXPECT_NE(line.reason, "") << line.name;
  }
}

TEST(Doctor, SaysUnknownAndWhyWhereItMayNotLook) {
  ServerFacts facts;
  facts.info.refused = "NOPERM no info";
  facts.config.refused = "NOPERM no config";
  facts.library_refused = "NOPERM no library";

  for (const Check& line : diagnose(facts)) {
    EXPECT_EQ(line.verdict, Verdict::unknown) << line.name;
    EXPECT_NE(line.reason, "") << line.name;
    EXPECT_NE(line.advice, "") << line.name;
  }
  EXPECT_EQ(check(facts, "eviction").reason, "NOPERM no info");
}

TEST(Doctor, EveryVerdictButOkSaysWhatToDo) {
  ServerFacts facts = healthy();
  facts.info.values["redis_version"] = "5.0.0";
  facts.info.values["role"] = "slave";
  facts.info.values["aof_enabled"] = "0";
  facts.info.values["aof_last_write_status"] = "err";
  facts.info.values["maxmemory_policy"] = "allkeys-lru";
  facts.info.values["evicted_keys"] = "7";
  facts.library = "9.0.0";
  facts.rights[2].finding = Right::Finding::no_command;

  for (const std::string name :
       {"version", "role", "persistence", "writing", "eviction", "evicted", "library", "rights"}) {
    EXPECT_EQ(check(facts, name).verdict, Verdict::threat) << name;
    EXPECT_NE(check(facts, name).advice, "") << name;
  }
}

TEST(Doctor, B91JudgesEachEvictionPolicy) {
  for (const std::string policy : {"allkeys-lru", "allkeys-lfu", "allkeys-random"}) {
    EXPECT_EQ(with_info("maxmemory_policy", policy, "eviction"), Verdict::threat) << policy;
  }
  for (const std::string policy :
       {"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"}) {
    EXPECT_EQ(with_info("maxmemory_policy", policy, "eviction"), Verdict::warning) << policy;
  }
  EXPECT_EQ(with_info("maxmemory_policy", "something-new", "eviction"), Verdict::threat);
  EXPECT_EQ(judge_policy({}).verdict, Verdict::unknown);
}

TEST(Doctor, B91TakesThePolicyFromConfigWhereInfoIsNotGranted) {
  ServerFacts facts = healthy();
  facts.info = {.refused = "NOPERM"};
  facts.config.values["maxmemory-policy"] = "allkeys-lru";

  EXPECT_EQ(check(facts, "eviction").verdict, Verdict::threat);
}

TEST(Doctor, B91EvictedKeysAreAThreatOnlyWhereJobsCanBeAmongThem) {
  EXPECT_EQ(with_info("evicted_keys", "12", "evicted"), Verdict::warning);
  ServerFacts facts = healthy();
  facts.info.values["maxmemory_policy"] = "allkeys-lru";
  facts.info.values["evicted_keys"] = "12";
  EXPECT_EQ(check(facts, "evicted").verdict, Verdict::threat);
  EXPECT_EQ(check(facts, "evicted").found, "12 keys");
}

TEST(Doctor, PersistenceIsJudgedByWhatACrashLoses) {
  ServerFacts facts = healthy();
  facts.config.values["appendfsync"] = "always";
  EXPECT_EQ(check(facts, "persistence").verdict, Verdict::ok);
  facts.config.values["appendfsync"] = "no";
  EXPECT_EQ(check(facts, "persistence").verdict, Verdict::warning);
  facts.config.values.erase("appendfsync");
  EXPECT_EQ(check(facts, "persistence").verdict, Verdict::unknown);
  facts.info.values["aof_enabled"] = "0";
  EXPECT_EQ(check(facts, "persistence").found, "none");
  facts.config.values["save"] = "3600 1";
  EXPECT_EQ(check(facts, "persistence").verdict, Verdict::threat);
  EXPECT_EQ(check(facts, "persistence").found, "snapshots only (save 3600 1)");
}

TEST(Doctor, WarnsOfAClockThatIsOffByMoreThanTwoSecondsEitherWay) {
  ServerFacts facts = healthy();
  for (const std::chrono::nanoseconds skew : {2s, -2s}) {
    facts.ahead = skew;
    EXPECT_EQ(check(facts, "clock").verdict, Verdict::ok);
  }
  for (const std::chrono::nanoseconds skew : {2001ms, -2001ms}) {
    facts.ahead = skew;
    EXPECT_EQ(check(facts, "clock").verdict, Verdict::warning);
  }
  EXPECT_EQ(check(facts, "clock").found, "this machine 2001.00 ms behind Redis");
}

TEST(Doctor, LatencyIsThatOfTheMedianAndTheSlowest) {
  ServerFacts facts = healthy();
  for (std::size_t i = 0; i < 3; ++i) facts.pings[i] = 51ms;
  EXPECT_EQ(check(facts, "latency").verdict, Verdict::warning);
  EXPECT_EQ(check(facts, "latency").found, "p50 0.20 ms, p99 51.00 ms");
  facts.pings.assign(100, 11ms);
  EXPECT_EQ(check(facts, "latency").verdict, Verdict::warning);
}

TEST(Doctor, OneWayToTheLibraryIsEnough) {
  ServerFacts facts = healthy();
  facts.rights[0].finding = Right::Finding::no_command;
  EXPECT_EQ(check(facts, "rights").verdict, Verdict::ok);
  facts.rights[1].finding = Right::Finding::no_command;
  EXPECT_EQ(check(facts, "rights").verdict, Verdict::threat);
  EXPECT_EQ(check(facts, "rights").reason, "not granted: +fcall +evalsha");
}

TEST(Doctor, AUserOfCertainQueuesIsAWarning) {
  ServerFacts facts = healthy();
  facts.rights[2].finding = Right::Finding::no_key;
  EXPECT_EQ(check(facts, "rights").verdict, Verdict::warning);
}

TEST(Doctor, WarnsBeforeMemoryOrClientsRunOut) {
  EXPECT_EQ(with_info("used_memory", "79000000", "memory"), Verdict::ok);
  EXPECT_EQ(with_info("used_memory", "81000000", "memory"), Verdict::warning);
  EXPECT_EQ(with_info("connected_clients", "79", "clients"), Verdict::ok);
  EXPECT_EQ(with_info("connected_clients", "80", "clients"), Verdict::warning);
  EXPECT_EQ(with_info("maxmemory", "0", "memory"), Verdict::ok);
}

TEST(Doctor, TheForecastReckonsWithWhatAJobTakesHere) {
  ServerFacts facts = healthy();
  EXPECT_EQ(check(facts, "forecast").found, "330 bytes a waiting job");
  facts.waiting = 1'000;
  facts.waiting_bytes = 500'000;
  EXPECT_EQ(check(facts, "forecast").found, "500 bytes a waiting job");
  EXPECT_EQ(check(facts, "forecast").reason,
            "measured over 1000 jobs; about 198000 more fit under maxmemory");
}

TEST(Doctor, ANumberThatIsNoneIsNotThere) {
  const Table table{.values = {{"a", "12"}, {"b", "12x"}, {"c", ""}}};
  EXPECT_EQ(table.number("a"), 12U);
  EXPECT_EQ(table.number("b"), std::nullopt);
  EXPECT_EQ(table.number("c"), std::nullopt);
  EXPECT_EQ(table.number("d"), std::nullopt);
}

}  // namespace
}  // namespace duly::core
