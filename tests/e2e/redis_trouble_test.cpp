// The rows of the table of reactions, on a server that says what the test wants.
#include <gtest/gtest.h>

#include <atomic>

#include "duly/duly.h"
#include "src/redis/reaction.h"
#include "tests/support/fake_server.h"
#include "tests/support/redis_server.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using redis::Reaction;
using redis::Trouble;

/// A server with the library of this version, which answers calls; the first
/// `bad_ones` of them get `error` instead.
class TroubledServer {
 public:
  TroubledServer(std::string error, int bad_ones)
      : error_(std::move(error)), bad_ones_(bad_ones), server_([this](FakePeer& peer, int) {
          for (auto words = peer.read_command(); !words.empty(); words = peer.read_command()) {
            peer.write(answer(words));
          }
        }) {}

  [[nodiscard]] std::string url() const { return server_.url(); }
  [[nodiscard]] int connections() const { return server_.connections(); }
  [[nodiscard]] int calls() const { return calls_; }
  [[nodiscard]] int loads() const { return loads_; }

 private:
  std::string answer(const std::vector<std::string>& words) {
    if (words[0] == "CLIENT") return "+OK\r\n";
    if (words[0] == "SADD") return ":1\r\n";
    if (words[0] == "FUNCTION") {
      ++loads_;
      return "$4\r\nduly\r\n";
    }
    if (words[1] == "duly_version" && error_.find("not found") != std::string::npos && calls_ > 0 &&
        loads_ == 0) {
      return "-" + error_ + "\r\n";
    }
    if (words[1] == "duly_version") {
      return "*2\r\n$7\r\nversion\r\n$" + std::to_string(std::string(kVersion).size()) + "\r\n" +
             std::string(kVersion) + "\r\n";
    }
    return ++calls_ <= bad_ones_ ? "-" + error_ + "\r\n" : "*1\r\n$6\r\npaused\r\n";
  }

  const std::string error_;
  const int bad_ones_;
  std::atomic<int> calls_{0};
  std::atomic<int> loads_{0};
  FakeServer server_;
};

struct Row {
  const char* name;
  Trouble trouble;
  const char* text;
};

class RedisTrouble : public ::testing::TestWithParam<Row> {
 protected:
  static Reaction reaction() { return redis::row_of(GetParam().trouble).reaction; }
  static std::string pause(const TroubledServer& server, std::chrono::milliseconds timeout) {
    try {
      Admin(Connection({.redis = server.url(), .timeout = timeout})).pause("mail");
      return "";
    } catch (const Error& error) {
      if (reaction() != Reaction::load) {
        EXPECT_NE(std::string(error.what()).find(GetParam().text), std::string::npos)
            << error.what();
      }
      return std::string(to_string(error.code()));
    }
  }
};

TEST_P(RedisTrouble, ThatPassesIsHandledAsTheTableSays) {
  const TroubledServer server(GetParam().text, 2);

  const std::string error = pause(server, 10s);

  switch (reaction()) {
    case Reaction::wait:
      EXPECT_EQ(error, "");
      EXPECT_EQ(server.connections(), 1);
      break;
    case Reaction::reconnect:
      EXPECT_EQ(error, "");
      EXPECT_EQ(server.connections(), 3);
      break;
    case Reaction::load:
      EXPECT_EQ(error, "");
      EXPECT_GE(server.loads(), 1);
      break;
    case Reaction::end:
      EXPECT_EQ(error, to_string(redis::row_of(GetParam().trouble).code));
      EXPECT_EQ(server.calls(), 1);
      break;
  }
}

TEST_P(RedisTrouble, ThatStaysEndsTheCallInTimeAndSaysWhy) {
  const TroubledServer server(GetParam().text, 1'000'000);
  const auto begin = std::chrono::steady_clock::now();

  const std::string error = pause(server, 300ms);

  EXPECT_EQ(error, to_string(redis::row_of(GetParam().trouble).code));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
}

INSTANTIATE_TEST_SUITE_P(
    EachRow, RedisTrouble,
    ::testing::Values(
        Row{"loading", Trouble::loading, "LOADING Redis is loading the dataset in memory"},
        Row{"busy", Trouble::busy, "BUSY Redis is busy running a script."},
        Row{"tryagain", Trouble::try_again, "TRYAGAIN Multiple keys request"},
        Row{"clusterdown", Trouble::cluster_down, "CLUSTERDOWN The cluster is down"},
        Row{"masterdown", Trouble::master_down, "MASTERDOWN Link with MASTER is down"},
        Row{"readonly", Trouble::read_only,
            "READONLY You can't write against a read only replica."},
        Row{"readonly_in_a_script", Trouble::read_only,
            "ERR Error running script (call to f_ca): @user_script:1: -READONLY You can't write"},
        Row{"max_clients", Trouble::max_clients, "ERR max number of clients reached"},
        Row{"no_function", Trouble::no_function, "ERR Function not found"},
        Row{"unknown_command", Trouble::unknown_command, "ERR unknown command 'FCALL'"},
        Row{"noperm", Trouble::no_permission, "NOPERM this user has no permissions"},
        Row{"noauth", Trouble::not_logged_in, "NOAUTH Authentication required."},
        Row{"wrongpass", Trouble::wrong_password, "WRONGPASS invalid username-password pair"},
        Row{"misconf", Trouble::snapshot_fails,
            "MISCONF Redis is configured to save RDB snapshots"},
        Row{"noreplicas", Trouble::no_replicas, "NOREPLICAS Not enough good replicas to write."},
        Row{"oom", Trouble::out_of_memory, "OOM command not allowed"},
        Row{"protocol_error", Trouble::protocol_error, "ERR Protocol error: invalid bulk length"},
        Row{"other", Trouble::other_reply, "ERR something new"}),
    [](const auto& one) { return std::string(one.param.name); });

std::string error_of_pause(const std::string& url, std::chrono::milliseconds timeout) {
  try {
    Admin(Connection({.redis = url, .timeout = timeout})).pause("mail");
    return "";
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
}

TEST(RedisWay, B98WhatIsNoReplyOfRedisEndsAtOnceAndIsNotAskedAgain) {
  const FakeServer server([](FakePeer& peer, int) {
    peer.read_command();
    peer.write("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer.wait_until_closed();
  });

  const std::string error = error_of_pause(server.url(), 20s);

  EXPECT_EQ(error.find("unavailable: "), 0U) << error;
  EXPECT_NE(error.find("no reply of Redis"), std::string::npos) << error;
}

TEST(RedisWay, ANameWithoutAnAddressIsNamedAtTheTimeLimit) {
  const std::string error = error_of_pause("redis://no-such-host.invalid:1", 500ms);

  EXPECT_EQ(error.find("unavailable: "), 0U) << error;
  EXPECT_NE(error.find("no-such-host.invalid"), std::string::npos) << error;
}

TEST(RedisWay, ARefusedConnectionIsNamedAtTheTimeLimit) {
  const std::string error =
      error_of_pause("redis://127.0.0.1:" + std::to_string(free_port()), 500ms);

  EXPECT_EQ(error.find("unavailable: "), 0U) << error;
  EXPECT_NE(error.find("Connection refused"), std::string::npos) << error;
}

}  // namespace
}  // namespace duly::testing
