// Redis that is not there yet, stopped, full, or asks for a password.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>

#include "tests/e2e/cli_fixture.h"
#include "tests/e2e/worker_fixture.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

/// A connection and what it has logged.
struct Logged {
  Connection open(const std::string& url, Milliseconds timeout) {
    return Connection(
        {.redis = url, .timeout = timeout, .log = [log = log_](LogLevel, const std::string& text) {
           const std::lock_guard lock(log->mutex);
           log->text += text + "\n";
         }});
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(log_->mutex);
    return log_->text;
  }

 private:
  struct Log {
    std::mutex mutex;
    std::string text;
  };
  std::shared_ptr<Log> log_ = std::make_shared<Log>();
};

std::string code_of(const std::function<void()>& call) {
  try {
    call();
    return "";
  } catch (const Error& error) {
    return std::string(to_string(error.code()));
  }
}

class RedisAway : public CliTest {};

TEST_F(RedisAway, B32AWorkerStartedBeforeRedisWaitsForIt) {
  redis_.stop(SIGKILL);
  Program work(line({"work", "mail", "--exec", "true"}));
  ASSERT_TRUE(eventually([&] { return !work.err().empty(); }, 10s));
  EXPECT_NE(work.err().find(redis_.socket_path()), std::string::npos) << work.err();

  redis_.start();
  put({"mail", "hello"});

  EXPECT_TRUE(eventually([&] { return work.err().find("acked") != std::string::npos; }, 15s))
      << work.err();
  EXPECT_NE(work.err().find("connected again"), std::string::npos) << work.err();
}

TEST_F(RedisAway, B32ACommandWithoutRedisEndsAtItsTimeoutAndSaysWhy) {
  redis_.stop(SIGKILL);

  const auto begin = SteadyClock::now();
  const ProgramEnd end = duly({"--timeout", "500ms", "put", "mail", "hello"});
  const auto took = SteadyClock::now() - begin;

  EXPECT_EQ(end.status, 3) << end.err;
  EXPECT_NE(end.err.find("timed out, not sent"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find(redis_.socket_path()), std::string::npos) << end.err;
  EXPECT_GE(took, 500ms);
  EXPECT_LT(took, 5s);
}

TEST(RedisLoading, B32CallsWaitUntilTheDataIsRead) {
  RedisServer redis({.arguments = {"--appendonly", "yes", "--key-load-delay", "1500",
                                   "--loading-process-events-interval-bytes", "1024"}});
  for (int i = 0; i < 20; ++i) {
    std::vector<std::string> words{"MSET"};
    for (int j = 0; j < 100; ++j) {
      words.push_back("k" + std::to_string(i * 100 + j));
      words.emplace_back("v");
    }
    ASSERT_EQ(redis.ask(words), "OK");
  }
  ASSERT_NE(redis.cli("BGREWRITEAOF"), "gone");
  ASSERT_TRUE(eventually([&] {
    return redis.cli("INFO", "persistence").find("aof_rewrite_in_progress:0") != std::string::npos;
  }));
  Logged logged;
  Client client(logged.open(redis.url(), 60s));
  redis.stop(SIGTERM);
  auto put = client.put_async("mail", NewJob{.delay = 1h});

  redis.start();

  EXPECT_EQ(put.get().outcome, PutOutcome::created);
  EXPECT_NE(logged.text().find("LOADING"), std::string::npos) << logged.text();
  EXPECT_NE(logged.text().find("works again"), std::string::npos) << logged.text();
}

TEST(RedisStopped, B35EveryCallReturnsInTimeAndNothingNotSentShowsUpLater) {
  constexpr int kCalls = 100;
  RedisServer redis({.with_tcp = true});
  Client client(Connection({.redis = redis.tcp_url(), .timeout = 2s}));
  client.put("mail", NewJob{.delay = 1h});
  redis.kill(SIGSTOP);

  const auto begin = SteadyClock::now();
  std::vector<std::future<PutResult>> puts;
  std::vector<std::future<std::vector<ActiveJob>>> claims;
  std::vector<std::future<LeaseOutcome>> acks;
  for (int i = 0; i < kCalls; ++i) {
    puts.push_back(client.put_async("mail", {.delay = 1h, .id = JobId("p" + std::to_string(i))}));
    claims.push_back(client.claim_async("mail"));
    acks.push_back(client.ack_async("mail", {JobId("a"), LeaseToken("t")}));
  }
  std::vector<std::string> put_codes;
  for (auto& put : puts) put_codes.push_back(code_of([&] { put.get(); }));
  for (auto& claim : claims) EXPECT_NE(code_of([&] { claim.get(); }), "");
  for (auto& ack : acks) EXPECT_NE(code_of([&] { ack.get(); }), "");
  EXPECT_LT(SteadyClock::now() - begin, 4s);  // 2.5 s, and what a busy machine adds
  redis.kill(SIGCONT);

  const auto back_at = SteadyClock::now();
  EXPECT_EQ(client.put("mail", NewJob{.delay = 1h}).outcome, PutOutcome::created);
  EXPECT_LT(SteadyClock::now() - back_at, 3s);
  Admin admin(Connection(redis.url()));
  int not_sent = 0;
  for (int i = 0; i < kCalls; ++i) {
    if (put_codes[static_cast<std::size_t>(i)] != "unavailable") continue;
    ++not_sent;
    EXPECT_FALSE(admin.find("mail", JobId("p" + std::to_string(i)))) << i;
  }
  EXPECT_GT(not_sent, 0);
}

TEST(RedisStopped, B38WhatWaitsIsBoundedAndFreedAfterwards) {
  RedisServer redis;
  Client client(Connection({.redis = redis.url(),
                            .timeout = 1s,
                            .requests_in_flight = 100,
                            .bytes_in_flight = 500'000}));
  client.put("mail", NewJob{.delay = 1h});
  redis.kill(SIGSTOP);
  const auto wait_for_all = [&](std::size_t payload, std::string& refusal) {
    std::vector<std::future<PutResult>> puts;
    for (int i = 0; i < 1'000; ++i) {
      puts.push_back(client.put_async("mail", {.payload = std::string(payload, 'x'), .delay = 1h}));
    }
    std::size_t held = 0;
    for (auto& put : puts) {
      try {
        put.get();
      } catch (const Error& error) {
        const std::string text = error.what();
        const bool is_refused = text.find(" in flight, limit ") != std::string::npos;
        if (is_refused) refusal = text;
        if (!is_refused) ++held;
      }
    }
    return held;
  };

  std::string refusal;
  EXPECT_LE(wait_for_all(0, refusal), 100U);
  EXPECT_NE(refusal.find("100 calls in flight, limit 100"), std::string::npos) << refusal;
  EXPECT_LE(wait_for_all(10'000, refusal), 50U);
  EXPECT_NE(refusal.find("payload bytes in flight, limit 500000"), std::string::npos) << refusal;

  redis.kill(SIGCONT);
  EXPECT_TRUE(eventually(
      [&] { return code_of([&] { client.put("mail", NewJob{.delay = 1h}); }).empty(); }));
}

TEST(RedisFull, B92AFullRedisIsDrainedToTheEndAndUsedAgain) {
  RedisServer redis({.arguments = {"--maxmemory", "64mb", "--maxmemory-policy", "noeviction"}});
  Client client{Connection(redis.url())};
  Admin admin{Connection(redis.url())};
  std::size_t stored = 0;
  std::string code;
  while (code.empty()) {
    ASSERT_LT(stored, 10'000U);
    for (const PutResult& result :
         client.put("mail", std::vector<NewJob>(100, {.payload = std::string(10'000, 'x')}))) {
      if (result.error) code = to_string(result.error->code());
      if (!result.error) ++stored;
    }
  }
  EXPECT_EQ(code, "out_of_memory");
  EXPECT_EQ(admin.stats("mail").ready, stored);
  // The next to come must bring the library, into a Redis that takes none.
  ASSERT_EQ(redis.cli("FUNCTION", "FLUSH"), "OK");

  RunningWorker worker(redis.url(), {.queues = {"mail"}, .concurrency = 50}, [](Attempt&) {});

  EXPECT_TRUE(eventually([&] { return admin.stats("mail").totals.acked == stored; }, 20s))
      << admin.stats("mail").totals.acked << " of " << stored;
  EXPECT_EQ(client.put("mail", NewJob{.delay = 1h}).outcome, PutOutcome::created);
}

TEST_F(RedisAway, B34PasswordsWithSpecialCharactersLogInAndAreNeverShown) {
  RedisServer redis({.with_tcp = true});
  struct Login {
    const char* user;
    const char* password;
    const char* in_url;
  };
  for (const Login& one : {Login{"u1", "p@ss-word", "u1:p%40ss-word"},
                           {"u2", "a:b-secret", "u2:a%3Ab-secret"},
                           {"u3", "x/y#z-secret", "u3:x%2Fy%23z-secret"},
                           {"u4", "100%-secret", "u4:100%25-secret"},
                           {"u5", "a+b=-secret", "u5:a+b=-secret"},
                           {"u6", "[-secret", "u6:%5B-secret"},
                           {"u@7", "plain-secret", "u%407:plain-secret"}}) {
    ASSERT_EQ(redis.cli("ACL", "SETUSER", one.user, "on", ">" + std::string(one.password), "~*",
                        "&*", "+@all"),
              "OK");
    const std::string at = "@127.0.0.1:" + std::to_string(redis.tcp_port());
    const ProgramEnd good = run_program(
        {binary(), "--redis", "redis://" + std::string(one.in_url) + at, "put", "mail", "x"});
    EXPECT_EQ(good.status, 0) << good.err;

    ASSERT_EQ(redis.cli("ACL", "SETUSER", one.user, "resetpass", ">other"), "OK");
    const ProgramEnd bad =
        run_program({binary(), "--redis", "redis://" + std::string(one.in_url) + at, "--timeout",
                     "1s", "put", "mail", "x"});
    EXPECT_EQ(bad.status, 3);
    EXPECT_NE(bad.err.find("WRONGPASS"), std::string::npos) << bad.err;
    for (const std::string& text : {good.out, good.err, bad.out, bad.err}) {
      EXPECT_EQ(text.find(one.password), std::string::npos) << text;
      EXPECT_EQ(text.find("secret"), std::string::npos) << text;
    }
  }
}

TEST(Sizes, B98PayloadsAndBatchesAreTakenUpToTheirLimits) {
  constexpr std::size_t kLimit = 1024UL * 1024;
  RedisServer redis;
  Client client{Connection(redis.url())};
  Admin admin{Connection(redis.url())};
  for (const std::size_t size : {0UL, 1UL, kLimit - 1, kLimit}) {
    const PutResult put =
        client.put("mail", NewJob{.payload = std::string(size, 'x'), .delay = 1h});
    EXPECT_EQ(admin.find("mail", put.id)->payload.size(), size);
  }
  EXPECT_EQ(code_of([&] { client.put("mail", NewJob{.payload = std::string(kLimit + 1, 'x')}); }),
            "invalid_argument");

  EXPECT_TRUE(client.put("batch", std::vector<NewJob>{}).empty());
  for (const std::size_t count : {1UL, Limits::piece}) {
    const auto results = client.put("batch", std::vector<NewJob>(count), PutMode::all_or_nothing);
    EXPECT_EQ(results.size(), count);
  }
  for (const std::size_t count : {0UL, Limits::piece + 1}) {
    EXPECT_EQ(
        code_of([&] { client.put("batch", std::vector<NewJob>(count), PutMode::all_or_nothing); }),
        "invalid_argument")
        << count;
  }
  const auto many = client.put(
      "batch", std::vector<NewJob>(Limits::piece + 1, {.payload = std::string(10'000, 'x')}));
  EXPECT_THAT(many, ::testing::Each(::testing::Field(&PutResult::outcome, PutOutcome::created)));
  EXPECT_EQ(admin.stats("batch").ready, 1 + Limits::piece + Limits::piece + 1);
}

TEST_F(RedisAway, B98AFileOf600MegabytesIsRefusedUnread) {
  const std::filesystem::path file = redis_.folder() / "large";
  std::ofstream(file).close();
  std::filesystem::resize_file(file, 600'000'000);  // a hole: it takes no room

  const ProgramEnd end = duly({"put", "mail", "@" + file.string()});

  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("payload: 600000000 bytes, expected 0 .. 1048576"), std::string::npos)
      << end.err;
  EXPECT_LT(end.most_memory_kib, 300L * 1024);
}

}  // namespace
}  // namespace duly::testing
