#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <vector>

#include "tests/e2e/redis_fixture.h"
#include "tests/support/fake_server.h"
#include "tests/support/redis_server.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

// No name means no handshake: the first command is ours.
LinkOptions bare() { return {.client_name = ""}; }

/// A folder in /tmp for the time of a test.
class Folder {
 public:
  Folder() {
    std::string pattern = "/tmp/duly-endings-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void answer_all(FakePeer& peer) {
  while (!peer.read_command().empty()) peer.write("+OK\r\n");
}

TEST(RedisEndings, AnErrorReplyIsDone) {
  FakeServer server([](FakePeer& peer, int) {
    peer.read_command();
    peer.write("-OOM no memory\r\n");
    peer.wait_until_closed();
  });
  OneLink link(server.url(), bare());

  const Ending ending = link.ask({"SET", "a", "b"});

  EXPECT_EQ(ending.kind, Kind::done);
  EXPECT_EQ(ending.reply.error_word(), "OOM");
}

// The best of three: a busy machine may stop us for a while.
TEST(RedisEndings, ASilentServerMeansUnknownAtTheDeadline) {
  FakeServer server([](FakePeer& peer, int) { peer.wait_until_closed(); });
  auto best = 10'000ms;
  for (int i = 0; i < 3; ++i) {
    OneLink link(server.url(), bare());
    Ending ending;
    const auto took = time_of([&] { ending = link.ask({"PING"}, 300ms); });
    EXPECT_EQ(word_of(ending.kind), "unknown");
    EXPECT_EQ(ending.reason, server.url() + "/0: timed out, no answer");
    EXPECT_GE(took, 299ms);
    best = std::min(best, took);
  }
  EXPECT_LT(best, 400ms);
}

TEST(RedisEndings, ARefusedConnectionMeansNotDoneAtTheDeadlineAndIsNamed) {
  auto best = 10'000ms;
  for (int i = 0; i < 3; ++i) {
    OneLink link("redis://127.0.0.1:" + std::to_string(free_port()));
    Ending ending;
    const auto took = time_of([&] { ending = link.ask({"PING"}, 300ms); });
    EXPECT_EQ(word_of(ending.kind), "not_done");
    EXPECT_NE(ending.reason.find("Connection refused"), std::string::npos) << ending.reason;
    EXPECT_GE(took, 299ms);
    best = std::min(best, took);
  }
  EXPECT_LT(best, 400ms);
}

TEST(RedisEndings, ACutAfterSendingMeansUnknownAtOnce) {
  FakeServer server([](FakePeer& peer, int) { peer.read_command(); });
  OneLink link(server.url(), bare());

  Ending ending;
  const auto took = time_of([&] { ending = link.ask({"PING"}, 20s); });

  EXPECT_EQ(word_of(ending.kind), "unknown");
  EXPECT_NE(ending.reason.find("connection ended"), std::string::npos) << ending.reason;
  EXPECT_LT(took, 2s);
}

TEST(RedisEndings, ACutBeforeSendingLosesNothing) {
  FakeServer server([](FakePeer& peer, int number) {
    peer.read_command();
    peer.write(number == 0 ? "+first\r\n" : "+second\r\n");
    if (number > 0) peer.wait_until_closed();
  });
  OneLink link(server.url(), bare());
  ASSERT_EQ(link.text_of({"PING"}), "first");
  ASSERT_TRUE(eventually([&] { return link.has_logged("connection ended"); }));

  EXPECT_EQ(link.text_of({"PING"}), "second");
}

TEST(RedisEndings, WhatHasNotBegunToLeaveWhenAWriteBreaksOffLeavesOnTheNextConnection) {
  const Folder folder;
  FakeServer server(
      [](FakePeer& peer, int number) {
        if (number == 0) {
          peer.receive();
        } else {
          answer_all(peer);
        }
      },
      folder.path() / "socket");
  OneLink link(server.url(), bare());
  // While the Io waits here, all become part of one write; the socket takes no more than a part of
  // the first.
  std::promise<void> all_sent;
  link.io().post([&] { all_sent.get_future().wait(); });
  auto large = link.send({"SET", "large", std::string(1000UL * 1024, 'x')});
  std::vector<std::future<Ending>> small;
  for (int i = 0; i < 20; ++i) small.push_back(link.send({"SET", "small", std::to_string(i)}));
  all_sent.set_value();

  EXPECT_EQ(word_of(large.get().kind), "unknown");
  for (auto& ended : small) EXPECT_EQ(word_of(ended.get().kind), "done");
  EXPECT_EQ(server.connections(), 2);
}

TEST(RedisEndings, B35WhatEndedAsNotDoneNeverLeavesLater) {
  std::promise<void> may_read;
  std::promise<std::vector<std::string>> read;
  FakeServer server([&](FakePeer& peer, int) {
    may_read.get_future().wait();
    peer.read_command();
    peer.write("+OK\r\n");
    read.set_value(peer.read_command());
    peer.write("+OK\r\n");
    peer.wait_until_closed();
  });
  OneLink link(server.url(), bare());
  // It keeps the writer busy for as long as the server does not read.
  auto large = link.send({"SET", "large", std::string(16UL * 1024 * 1024, 'x')}, 20s);

  const Ending late = link.ask({"SET", "late", "1"}, 200ms);
  EXPECT_EQ(word_of(late.kind), "not_done");
  EXPECT_NE(late.reason.find("timed out, not sent: the connection was busy"), std::string::npos)
      << late.reason;

  auto next = link.send({"SET", "next", "1"}, 20s);
  may_read.set_value();
  EXPECT_EQ(word_of(large.get().kind), "done");
  EXPECT_EQ(word_of(next.get().kind), "done");
  EXPECT_EQ(read.get_future().get(), (std::vector<std::string>{"SET", "next", "1"}));
}

TEST(RedisEndings, ADeadlineInThePastNeverLeaves) {
  RedisServer server;
  OneLink link(server.url());
  ASSERT_EQ(link.text_of({"PING"}), "PONG");

  EXPECT_EQ(word_of(link.ask({"SET", "late", "1"}, -1ms).kind), "not_done");

  EXPECT_EQ(link.text_of({"PING"}), "PONG");
  EXPECT_EQ(server.cli("EXISTS", "late"), "0");
}

TEST(RedisEndings, ALateReplyIsNotTakenForTheNext) {
  std::promise<void> may_answer;
  FakeServer server([&](FakePeer& peer, int) {
    peer.read_command();
    may_answer.get_future().wait();
    peer.write("+late\r\n");
    peer.read_command();
    peer.write("+next\r\n");
    peer.wait_until_closed();
  });
  OneLink link(server.url(), bare());
  ASSERT_EQ(word_of(link.ask({"FIRST"}, 300ms).kind), "unknown");

  auto next = link.send({"SECOND"});
  may_answer.set_value();

  EXPECT_EQ(next.get().reply.text, "next");
}

TEST(RedisEndings, B28ASilentConnectionIsReplacedAfterAMissedDeadline) {
  FakeServer server([](FakePeer& peer, int number) {
    if (number == 0) {
      peer.wait_until_closed();
    } else {
      answer_all(peer);
    }
  });
  OneLink link(server.url(), bare());
  ASSERT_EQ(word_of(link.ask({"PING"}, 300ms).kind), "unknown");

  EXPECT_TRUE(eventually([&] { return server.connections() == 2; }, 3s));

  EXPECT_EQ(link.text_of({"PING"}), "OK");
  EXPECT_TRUE(link.has_logged("connection ended: no answer")) << link.log();
}

TEST(RedisEndings, ASlowReplyThatKeepsComingDoesNotCostTheConnection) {
  std::promise<bool> all_sent;
  FakeServer server([&](FakePeer& peer, int) {
    peer.read_command();
    peer.write("$30\r\n");
    all_sent.set_value(peer.write_slowly(std::string(30, 'x'), 50ms));
    peer.write("\r\n");
    answer_all(peer);
  });
  OneLink link(server.url(), bare());
  ASSERT_EQ(word_of(link.ask({"PING"}, 300ms).kind), "unknown");
  ASSERT_TRUE(all_sent.get_future().get());

  EXPECT_EQ(link.text_of({"PING"}), "OK");
  EXPECT_EQ(server.connections(), 1);
}

TEST(RedisEndings, WhatIsNoReplyBreaksTheConnection) {
  FakeServer server([](FakePeer& peer, int number) {
    peer.read_command();
    peer.write(number == 0 ? "HTTP/1.1 400 Bad Request\r\n" : "+OK\r\n");
    peer.wait_until_closed();
  });
  OneLink link(server.url(), bare());

  const Ending ending = link.ask({"PING"});

  EXPECT_EQ(word_of(ending.kind), "unknown");
  EXPECT_NE(ending.reason.find("no reply of Redis"), std::string::npos) << ending.reason;
  EXPECT_EQ(link.text_of({"PING"}), "OK");
}

TEST(RedisEndings, AReplyThatNobodyAskedForBreaksTheConnection) {
  FakeServer server([](FakePeer& peer, int number) {
    peer.read_command();
    peer.write(number == 0 ? "+OK\r\n+OK\r\n" : "+OK\r\n");
    peer.wait_until_closed();
  });
  OneLink link(server.url(), bare());
  ASSERT_EQ(link.text_of({"PING"}), "OK");

  EXPECT_TRUE(eventually([&] { return link.has_logged("a reply to nothing"); }));
  EXPECT_EQ(link.text_of({"PING"}), "OK");
}

TEST(RedisEndings, AnEndingMaySendAgain) {
  RedisServer server;
  OneLink link(server.url());
  std::promise<std::int64_t> last;
  std::function<void(Ending)> again = [&](Ending ending) {
    if (ending.reply.integer >= 100) return last.set_value(ending.reply.integer);
    link.topology().send("n", Command{"INCR", "n"}, std::chrono::steady_clock::now() + 5s, again);
  };
  link.topology().send("n", Command{"INCR", "n"}, std::chrono::steady_clock::now() + 5s, again);

  EXPECT_EQ(last.get_future().get(), 100);
}

TEST(RedisEndings, DroppingTheTopologyEndsWhatHasLeftAsUnknown) {
  std::promise<void> has_come;
  FakeServer server([&](FakePeer& peer, int) {
    peer.read_command();
    has_come.set_value();
    peer.wait_until_closed();
  });
  OneLink link(server.url(), bare());
  auto left = link.send({"PING"}, 20s);
  has_come.get_future().wait();

  link.drop_topology();

  const Ending ending = left.get();
  EXPECT_EQ(word_of(ending.kind), "unknown");
  EXPECT_NE(ending.reason.find("connection closed"), std::string::npos) << ending.reason;
}

TEST(RedisEndings, DroppingTheTopologyEndsWhatHasNotLeftAsNotDone) {
  OneLink link("redis://127.0.0.1:" + std::to_string(free_port()));
  auto waiting = link.send({"PING"}, 20s);
  ASSERT_TRUE(eventually([&] { return link.has_logged("Connection refused"); }));

  link.drop_topology();

  EXPECT_EQ(word_of(waiting.get().kind), "not_done");
}

TEST(RedisEndings, CallbacksAreDroppedWithTheIo) {
  FakeServer server([](FakePeer& peer, int) { peer.wait_until_closed(); });
  std::future<Ending> pending;
  {
    OneLink link(server.url(), bare());
    pending = link.send({"PING"}, 20s);
    link.io().stop();
  }
  EXPECT_THROW(pending.get(), std::future_error);
}

}  // namespace
}  // namespace duly::testing
