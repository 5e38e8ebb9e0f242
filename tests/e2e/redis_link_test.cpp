#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/e2e/redis_fixture.h"
#include "tests/support/fake_server.h"
#include "tests/support/redis_server.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

LinkOptions bare() { return {.client_name = ""}; }

TEST(RedisLink, SpeaksOverAUnixSocketAndTcp) {
  RedisServer server({.with_tcp = true});
  for (const std::string& url :
       {server.url(), server.tcp_url(), "redis://localhost:" + std::to_string(server.tcp_port())}) {
    OneLink link(url);
    EXPECT_EQ(link.text_of({"PING"}), "PONG") << url;
    EXPECT_EQ(link.topology().generation(), 1U);
  }
}

TEST(RedisLink, ConnectsOnlyWhenItIsUsed) {
  FakeServer server([](FakePeer& peer, int) { peer.wait_until_closed(); });
  OneLink unused(server.url(), bare());
  OneLink used(server.url(), bare());

  used.ask({"PING"}, 100ms);

  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(unused.topology().generation(), 0U);
}

TEST(RedisLink, SendsManyRequestsBeforeTheFirstReply) {
  constexpr int kRequests = 5'000;
  FakeServer server([](FakePeer& peer, int) {
    std::vector<std::string> seen;
    while (seen.size() < kRequests) seen.push_back(peer.read_command().at(1));
    for (const std::string& number : seen) peer.write("+" + number + "\r\n");
    peer.wait_until_closed();
  });
  OneLink link(server.url(), bare());

  std::vector<std::future<Ending>> replies;
  for (int i = 0; i < kRequests; ++i) replies.push_back(link.send({"ECHO", std::to_string(i)}));

  for (int i = 0; i < kRequests; ++i) ASSERT_EQ(replies[i].get().reply.text, std::to_string(i));
}

TEST(RedisLink, KeepsTheOrderOfEachOfManyThreads) {
  constexpr int kThreads = 8;
  constexpr int kEach = 500;
  RedisServer server;
  OneLink link(server.url());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&link, list = "list" + std::to_string(thread)] {
      std::vector<std::future<Ending>> replies;
      for (int i = 0; i < kEach; ++i)
        replies.push_back(link.send({"RPUSH", list, std::to_string(i)}));
      for (int i = 0; i < kEach; ++i) EXPECT_EQ(replies[i].get().reply.integer, i + 1);
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (int thread = 0; thread < kThreads; ++thread) {
    const Ending all = link.ask({"LRANGE", "list" + std::to_string(thread), "0", "-1"});
    ASSERT_EQ(all.reply.items.size(), static_cast<std::size_t>(kEach));
    for (int i = 0; i < kEach; ++i) ASSERT_EQ(all.reply.items[i].text, std::to_string(i));
  }
}

TEST(RedisLink, CarriesBodiesOfEverySizeUnchanged) {
  RedisServer server({.with_tcp = true});
  OneLink link(server.tcp_url());
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t size = i % 50 == 0  ? 700'000
                             : i % 7 == 0 ? 20'000 + i
                             : i % 3 == 0 ? 2'020 + i / 10
                                          : i;
    std::string& body = bodies.emplace_back(size, static_cast<char>(i));
    if (size > 10) body.replace(size / 2, 2, "\r\n");
  }

  std::vector<std::future<Ending>> replies;
  for (const std::string& body : bodies) replies.push_back(link.send({"ECHO", body}));

  for (std::size_t i = 0; i < bodies.size(); ++i) {
    EXPECT_TRUE(replies[i].get().reply.text == bodies[i])
        << "body " << i << " of " << bodies[i].size() << " bytes";
  }
}

TEST(RedisLink, LogsInWithUserPasswordDatabaseAndName) {
  RedisServer server({.with_tcp = true});
  ASSERT_EQ(server.cli("ACL", "SETUSER", "worker", "on", ">p@ss word", "~*", "&*", "+@all"), "OK");
  OneLink link("redis://worker:p%40ss%20word@127.0.0.1:" + std::to_string(server.tcp_port()) + "/7",
               {.client_name = "duly-test"});

  EXPECT_EQ(link.text_of({"SET", "here", "1"}), "OK");

  const std::string clients = server.cli("CLIENT", "LIST", "TYPE", "normal");
  EXPECT_NE(clients.find("name=duly-test "), std::string::npos) << clients;
  EXPECT_NE(clients.find(" db=7 "), std::string::npos) << clients;
  EXPECT_NE(clients.find(" user=worker "), std::string::npos) << clients;
  EXPECT_EQ(server.cli("EXISTS", "here"), "0");
}

TEST(RedisLink, LogsInWithThePasswordOfTheDefaultUser) {
  RedisServer server({.with_tcp = true, .password = "s3cret"});
  OneLink link("redis://:s3cret@127.0.0.1:" + std::to_string(server.tcp_port()));
  EXPECT_EQ(link.text_of({"PING"}), "PONG");
}

TEST(RedisLink, WorksForAUserWhoMayNotSetAName) {
  RedisServer server({.with_tcp = true});
  ASSERT_EQ(server.cli("ACL", "SETUSER", "plain", "on", ">pw12", "~*", "+ping"), "OK");
  OneLink link("redis://plain:pw12@127.0.0.1:" + std::to_string(server.tcp_port()));
  EXPECT_EQ(link.text_of({"PING"}), "PONG");
}

struct Refusal {
  const char* user_info;
  const char* path;
  const char* reason;
};
class RedisRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(RedisRefusal, EndsWaitingRequestsAtOnceAndKeepsTheSecret) {
  RedisServer server({.with_tcp = true, .password = "right"});
  OneLink link("redis://" + std::string(GetParam().user_info) +
               "127.0.0.1:" + std::to_string(server.tcp_port()) + GetParam().path);

  Ending ending;
  const auto took = time_of([&] { ending = link.ask({"PING"}, 20s); });

  EXPECT_EQ(word_of(ending.kind), "not_done");
  EXPECT_NE(ending.reason.find(GetParam().reason), std::string::npos) << ending.reason;
  EXPECT_EQ((ending.reason + link.log()).find("gu3ss"), std::string::npos) << ending.reason;
  EXPECT_LT(took, 5s);
}

INSTANTIATE_TEST_SUITE_P(Handshake, RedisRefusal,
                         ::testing::Values(Refusal{":gu3ss@", "/0", "WRONGPASS"},
                                           Refusal{"nobody:gu3ss@", "/0", "WRONGPASS"},
                                           Refusal{"", "/0", "NOAUTH"},
                                           Refusal{":right@", "/99", "DB index is out of range"}));

TEST(RedisHandshake, NeverRepeatsThePasswordThatAServerQuotes) {
  FakeServer server([](FakePeer& peer, int) {
    peer.read_command();
    peer.write("-ERR unknown command `AUTH`, with args beginning with: `gu3ss` \r\n");
    peer.wait_until_closed();
  });
  OneLink link("redis://:gu3ss@127.0.0.1:" + std::to_string(server.port()));

  const Ending ending = link.ask({"PING"});

  EXPECT_NE(ending.reason.find("ERR unknown command `AUTH`"), std::string::npos) << ending.reason;
  EXPECT_EQ((ending.reason + link.log()).find("gu3ss"), std::string::npos) << ending.reason;
}

class RedisPassingRefusal : public ::testing::TestWithParam<const char*> {};

TEST_P(RedisPassingRefusal, IsWaitedOut) {
  FakeServer server([](FakePeer& peer, int number) {
    peer.read_command();
    if (number < 3) {
      peer.write("-" + std::string(GetParam()) + "\r\n");
      return;
    }
    peer.write("+OK\r\n");
    peer.read_command();
    peer.write("+PONG\r\n");
    peer.wait_until_closed();
  });
  OneLink link(server.url());

  EXPECT_EQ(link.text_of({"PING"}), "PONG");

  EXPECT_EQ(server.connections(), 4);
  EXPECT_TRUE(link.has_logged(GetParam())) << link.log();
}

INSTANTIATE_TEST_SUITE_P(Handshake, RedisPassingRefusal,
                         ::testing::Values("LOADING Redis is loading the dataset in memory",
                                           "MASTERDOWN Link with MASTER is down",
                                           "BUSY Redis is busy running a script",
                                           "ERR max number of clients reached"));

TEST(RedisLimits, ARequestBeyondTheCountEndsAtOnceAndNamesTheLimit) {
  FakeServer server([](FakePeer& peer, int) { peer.wait_until_closed(); });
  OneLink link(server.url(), {.client_name = "", .requests_in_flight = 10});
  std::vector<std::future<Ending>> in_flight;
  for (int i = 0; i < 10; ++i) in_flight.push_back(link.send({"PING"}, 1s));

  Ending ending;
  EXPECT_LT(time_of([&] { ending = link.ask({"PING"}, 20s); }), 5s);

  EXPECT_EQ(word_of(ending.kind), "not_done");
  EXPECT_EQ(ending.reason, server.url() + "/0: 10 requests in flight, limit 10");
  for (auto& ended : in_flight) EXPECT_EQ(word_of(ended.get().kind), "unknown");
}

TEST(RedisLimits, ARequestBeyondTheBytesEndsAtOnceAndNamesTheLimit) {
  FakeServer server([](FakePeer& peer, int) { peer.wait_until_closed(); });
  OneLink link(server.url(), {.client_name = "", .bytes_in_flight = 5'000});
  auto in_flight = link.send({"ECHO", std::string(4'000, 'x')}, 1s);

  const Ending ending = link.ask({"ECHO", std::string(2'000, 'x')}, 20s);

  EXPECT_EQ(word_of(ending.kind), "not_done");
  EXPECT_NE(ending.reason.find(" bytes in flight, limit 5000"), std::string::npos) << ending.reason;
  EXPECT_EQ(word_of(in_flight.get().kind), "unknown");
}

TEST(RedisLimits, OneLargerThanTheLimitMayGoAlone) {
  RedisServer server;
  OneLink link(server.url(), {.requests_in_flight = 1, .bytes_in_flight = 1'000});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(link.text_of({"ECHO", std::string(100'000, 'x')}).size(), 100'000U);
  }
}

TEST(RedisOutage, ARestartIsSurvivedAndLoggedOnce) {
  RedisServer server({.arguments = {"--appendonly", "yes"}});
  OneLink link(server.url());
  ASSERT_EQ(link.text_of({"SET", "kept", "yes"}), "OK");

  server.stop(SIGTERM);
  ASSERT_EQ(word_of(link.ask({"PING"}, 300ms).kind), "not_done");
  server.start();

  EXPECT_EQ(link.text_of({"GET", "kept"}), "yes");
  EXPECT_EQ(link.topology().generation(), 2U);
  std::vector<std::string> lines;
  std::istringstream log(link.log());
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  EXPECT_EQ(lines.size(), std::set<std::string>(lines.begin(), lines.end()).size()) << link.log();
  EXPECT_EQ(lines.front().find("warning"), 0U) << link.log();
  EXPECT_EQ(lines.back(), "info " + link.topology().address() + ": connected again");
}

TEST(RedisOutage, RequestsMadeMeanwhileLeaveWhenTheServerIsBack) {
  RedisServer server;
  OneLink link(server.url());
  ASSERT_EQ(link.text_of({"PING"}), "PONG");
  server.stop(SIGKILL);
  ASSERT_TRUE(eventually([&] { return link.has_logged("warning"); }));
  std::vector<std::future<Ending>> waiting;
  for (int i = 0; i < 100; ++i) waiting.push_back(link.send({"INCR", "n"}, 20s));

  server.start();

  for (int i = 0; i < 100; ++i) EXPECT_EQ(waiting[i].get().reply.integer, i + 1);
}

TEST(RedisOutage, AKilledServerMakesWhatHasLeftUnknown) {
  RedisServer server;
  OneLink link(server.url());
  auto blocked = link.send({"BLPOP", "nothing", "0"}, 20s);
  ASSERT_TRUE(eventually(
      [&] { return server.cli("CLIENT", "LIST").find("cmd=blpop") != std::string::npos; }));

  server.stop(SIGKILL);

  EXPECT_EQ(word_of(blocked.get().kind), "unknown");
}

TEST(RedisOutage, B35CallsToAStoppedServerEndInTimeAndTheNextAfterItWorks) {
  RedisServer server({.with_tcp = true});
  OneLink link(server.tcp_url());
  ASSERT_EQ(link.text_of({"PING"}), "PONG");

  server.kill(SIGSTOP);
  std::vector<std::string> not_done;
  for (int i = 0; i < 8; ++i) {
    Ending ending;
    const std::string key = "key" + std::to_string(i);
    EXPECT_LT(time_of([&] { ending = link.ask({"SET", key, "1"}, 200ms); }), 700ms);
    EXPECT_NE(word_of(ending.kind), "done");
    if (ending.kind == Kind::not_done) not_done.push_back(key);
  }
  server.kill(SIGCONT);

  EXPECT_LT(time_of([&] { EXPECT_EQ(link.text_of({"PING"}), "PONG"); }), 3s);
  for (const std::string& key : not_done) EXPECT_EQ(server.cli("EXISTS", key), "0") << key;
}

}  // namespace
}  // namespace duly::testing
