// The states of a real Redis in which it refuses work, and what becomes of duly's calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "duly/duly.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_redis.h"
#include "tests/support/redis_server.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

/// "", or the code and the text of the error of a put.
std::string put_error(Client& client) {
  try {
    client.put("mail", NewJob{.delay = 1h});
    return "";
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
}

Client client_of(const std::string& url, std::chrono::milliseconds timeout) {
  return Client(Connection({.redis = url, .timeout = timeout}));
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RedisState, AReplicaIsLeftAndTheCallMadeAgainOnceItIsAPrimary) {
  RedisServer redis;
  Client client = client_of(redis.url(), 10s);
  ASSERT_EQ(put_error(client), "");
  ASSERT_EQ(redis.cli("REPLICAOF", "127.0.0.1", "1"), "OK");
  Client impatient = client_of(redis.url(), 300ms);
  const std::string error = put_error(impatient);
  EXPECT_EQ(error.find("unavailable: "), 0U) << error;
  EXPECT_TRUE(holds(error, "READONLY")) << error;

  auto put = client.put_async("mail", NewJob{.delay = 1h});
  EXPECT_EQ(put.wait_for(300ms), std::future_status::timeout);
  ASSERT_EQ(redis.cli("REPLICAOF", "NO", "ONE"), "OK");

  EXPECT_EQ(put.get().outcome, PutOutcome::created);
}

TEST(RedisState, AReplicaWithoutItsPrimaryIsWaitedFor) {
  RedisServer redis({.arguments = {"--replica-serve-stale-data", "no"}});
  Client client = client_of(redis.url(), 10s);
  ASSERT_EQ(put_error(client), "");
  ASSERT_EQ(redis.cli("REPLICAOF", "127.0.0.1", "1"), "OK");
  Admin impatient(Connection({.redis = redis.url(), .timeout = 300ms}));
  try {
    impatient.stats("mail");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    EXPECT_TRUE(holds(error.what(), "MASTERDOWN")) << error.what();
  }

  ASSERT_EQ(redis.cli("REPLICAOF", "NO", "ONE"), "OK");

  EXPECT_EQ(put_error(client), "");
}

TEST(RedisState, ALongScriptIsWaitedFor) {
  RedisServer redis({.arguments = {"--busy-reply-threshold", "50"}});
  Client client = client_of(redis.url(), 20s);
  ASSERT_EQ(put_error(client), "");
  std::jthread script([&] {
    RawRedis raw(redis.socket_path());
    EXPECT_TRUE(raw.command({"EVAL", "while true do end", "0"}).is_error());
  });
  ASSERT_TRUE(eventually([&] { return holds(redis.cli("GET", "x"), "BUSY"); }));
  Client impatient = client_of(redis.url(), 300ms);
  const std::string error = put_error(impatient);
  EXPECT_EQ(error.find("unavailable: "), 0U) << error;
  EXPECT_TRUE(holds(error, "BUSY")) << error;

  auto put = client.put_async("mail", NewJob{.delay = 1h});
  EXPECT_EQ(put.wait_for(200ms), std::future_status::timeout);
  ASSERT_EQ(redis.cli("SCRIPT", "KILL"), "OK");

  EXPECT_EQ(put.get().outcome, PutOutcome::created);
}

TEST(RedisState, ASnapshotThatFailsEndsCallsAtOnce) {
  RedisServer redis({.arguments = {"--save", "3600 1", "--dbfilename", "dump.rdb"}});
  Client client = client_of(redis.url(), 20s);
  ASSERT_EQ(put_error(client), "");
  std::filesystem::create_directories(redis.folder() / "dump.rdb" / "in the way");
  ASSERT_NE(redis.cli("BGSAVE"), "gone");
  ASSERT_TRUE(eventually([&] { return holds(redis.cli("SET", "k", "v"), "MISCONF"); }));

  const std::string error = put_error(client);

  EXPECT_EQ(error.find("unavailable: redis: MISCONF"), 0U) << error;
  ASSERT_EQ(redis.cli("CONFIG", "SET", "stop-writes-on-bgsave-error", "no"), "OK");
  EXPECT_EQ(put_error(client), "");
}

TEST(RedisState, TooFewReplicasEndCallsAtOnce) {
  RedisServer redis;
  Client client = client_of(redis.url(), 20s);
  ASSERT_EQ(put_error(client), "");
  ASSERT_EQ(redis.cli("CONFIG", "SET", "min-replicas-to-write", "1"), "OK");

  const std::string error = put_error(client);

  EXPECT_EQ(error.find("unavailable: redis: NOREPLICAS"), 0U) << error;
}

TEST(RedisState, AMissingRightEndsCallsAtOnceAlsoInsideAScript) {
  RedisServer redis({.with_tcp = true});
  ASSERT_EQ(put_error(*std::make_unique<Client>(client_of(redis.url(), 10s))), "");
  const std::string url = "redis://u:pw123456@127.0.0.1:" + std::to_string(redis.tcp_port());
  for (const std::vector<std::string>& rights : {std::vector<std::string>{"~other*", "+@all"},
                                                 {"~*", "+@all", "-hset"},
                                                 {"~*", "+@all", "-fcall", "-function", "-hset"}}) {
    std::vector<std::string> words{"ACL", "SETUSER", "u", "reset", "on", ">pw123456", "&*"};
    words.insert(words.end(), rights.begin(), rights.end());
    ASSERT_EQ(redis.ask(words), "OK");
    Client client = client_of(url, 20s);

    const std::string error = put_error(client);

    EXPECT_EQ(error.find("unavailable: redis: "), 0U) << error;
  }
}

TEST(RedisState, AServerThatIsFullOfClientsIsWaitedFor) {
  RedisServer redis;
  Client client = client_of(redis.url(), 20s);
  auto holder = std::make_unique<RawRedis>(redis.socket_path());
  // A control connection of the kind that counts too: ours, and one that holds the last place.
  RawRedis control(redis.socket_path());
  ASSERT_EQ(control.command({"CONFIG", "SET", "maxclients", "2"}).text, "OK");

  Client impatient = client_of(redis.url(), 300ms);
  const std::string error = put_error(impatient);
  EXPECT_EQ(error.find("unavailable: "), 0U) << error;
  EXPECT_TRUE(holds(error, "max number of clients")) << error;
  ASSERT_EQ(control.command({"CONFIG", "SET", "maxclients", "100"}).text, "OK");

  EXPECT_EQ(put_error(client), "");
}

TEST(RedisState, AValueThatIsTooLargeForTheServerIsNotSentAgain) {
  RedisServer redis({.arguments = {"--proto-max-bulk-len", "1mb"}});
  Client client(Connection({.redis = redis.url(), .timeout = 20s, .payload_limit = 4 << 20}));
  ASSERT_EQ(put_error(client), "");
  std::string text;
  try {
    client.put("mail", NewJob{.payload = std::string(2 << 20, 'x')});
  } catch (const Error& error) {
    text = std::string(to_string(error.code())) + ": " + error.what();
  }

  // While it is still being sent, Redis may close before its word arrives.
  EXPECT_TRUE(holds(text, "Protocol error") || text.find("outcome_unknown: ") == 0) << text;
  EXPECT_EQ(put_error(client), "");
}

TEST(RedisState, AFlushedLibraryIsLoadedAgainInEitherWay) {
  RedisServer redis({.with_tcp = true});
  ASSERT_EQ(redis.cli("ACL", "SETUSER", "u", "on", ">pw123456", "~*", "&*", "+@all", "-fcall",
                      "-function"),
            "OK");
  Client by_functions = client_of(redis.url(), 20s);
  Client by_script =
      client_of("redis://u:pw123456@127.0.0.1:" + std::to_string(redis.tcp_port()), 20s);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(put_error(by_functions), "");
    EXPECT_EQ(put_error(by_script), "");
    ASSERT_EQ(redis.cli("FUNCTION", "FLUSH"), "OK");
    ASSERT_EQ(redis.cli("SCRIPT", "FLUSH"), "OK");
  }
}

}  // namespace
}  // namespace duly::testing
