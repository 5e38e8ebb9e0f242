// Who runs the private Redis, who joins, and what becomes of it when one of them goes.
#include "src/embedded/embedded.h"

#include <poll.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "src/embedded/child.h"
#include "src/embedded/fd.h"
#include "src/embedded/folder.h"
#include "tests/e2e/embedded_fixture.h"
#include "tests/e2e/embedded_peer.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto kTakeOver = 2s;

TEST_F(Embedded, StartsInAnEmptyFolderWithoutAPortAndKeepsItPrivate) {
  const auto redis = open();

  EXPECT_TRUE(redis->is_owner());
  EXPECT_EQ(redis->url(), "unix://" + (data_ / "redis.sock").string());
  EXPECT_EQ(ask({"PING"}), "PONG");
  EXPECT_EQ(ask({"CONFIG", "GET", "port"}), "port 0");
  EXPECT_EQ(ask({"CONFIG", "GET", "appendonly"}), "appendonly yes");
  EXPECT_EQ(ask({"CONFIG", "GET", "save"}), "save ");
  struct stat found {};
  ASSERT_EQ(::stat(data_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
  ASSERT_EQ(::stat((data_ / "redis.sock").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST_F(Embedded, EndsWithItsOwnerAndKeepsTheData) {
  auto redis = open();
  ASSERT_EQ(ask({"SET", "job", "kept"}), "OK");

  redis.reset();
  EXPECT_TRUE(servers().empty());
  EXPECT_FALSE(std::filesystem::exists(data_ / "redis.sock"));

  redis = open();
  EXPECT_EQ(ask({"GET", "job"}), "kept");
}

TEST_F(Embedded, ASecondObjectOfTheProcessJoinsAndTakesOver) {
  auto first = open();
  const auto second = open();
  EXPECT_FALSE(second->is_owner());
  EXPECT_EQ(second->url(), first->url());
  EXPECT_EQ(servers().size(), 1U);
  ASSERT_EQ(ask({"SET", "job", "kept"}), "OK");

  first.reset();

  EXPECT_TRUE(eventually([&] { return second->is_owner(); }, kTakeOver));
  EXPECT_EQ(ask({"GET", "job"}), "kept");
}

TEST_F(Embedded, AnotherProcessJoinsAndLeavesTheRedisAlone) {
  const Peer peer(data_);
  const auto redis = open();

  EXPECT_EQ(peer.open(), 'j');
  EXPECT_EQ(peer.shut(), 'k');

  EXPECT_TRUE(redis->is_owner());
  EXPECT_EQ(ask({"PING"}), "PONG");
  EXPECT_EQ(servers().size(), 1U);
}

TEST_F(Embedded, AJoinedProcessTakesOverFromAKilledOwner) {
  Peer owner(data_);
  const Peer joined(data_);
  ASSERT_EQ(owner.open(), 'o');
  ASSERT_EQ(joined.open(), 'j');
  ASSERT_EQ(ask({"SET", "job", "kept"}), "OK");

  owner.kill();

  EXPECT_TRUE(eventually([&] { return joined.role() == 'o'; }, kTakeOver));
  EXPECT_EQ(ask({"GET", "job"}), "kept");
  EXPECT_NE(redis_log().find("Received SIGTERM"), std::string::npos);
  EXPECT_NE(redis_log().find("bye bye"), std::string::npos);
  EXPECT_EQ(servers().size(), 1U);
}

TEST_F(Embedded, TheFolderStaysLockedUntilTheRedisOfAKilledOwnerHasEnded) {
  Peer owner(data_);
  ASSERT_EQ(owner.open(), 'o');
  const pid_t server = the_server();
  ASSERT_GT(server, 0);
  const embedded::Folder folder(data_);
  ::kill(server, SIGSTOP);  // Stands for a Redis that is long about its last fsync.

  owner.kill();

  EXPECT_FALSE(folder.try_lock());
  ::kill(server, SIGCONT);
  EXPECT_TRUE(eventually([&] { return folder.try_lock().has_value(); }));
  EXPECT_TRUE(servers().empty());
}

TEST_F(Embedded, OfTwoProcessesThatStartAtOnceOneOwnsAndBothWork) {
  for (int round = 0; round < 20; ++round) {
    const auto folder = root_ / ("round" + std::to_string(round));
    const Peer one(folder);
    const Peer other(folder);

    one.order_open();
    other.order_open();

    const std::string roles{one.answer(), other.answer()};
    EXPECT_TRUE(roles == "oj" || roles == "jo") << roles;
    EXPECT_EQ(servers().size(), 1U);
    EXPECT_EQ(ask_at((folder / "redis.sock").string(), {"PING"}), "PONG");
    one.shut();
    other.shut();
    EXPECT_TRUE(servers().empty());
  }
}

TEST_F(Embedded, LivesOnWhenTheThreadThatMadeItEnds) {
  std::unique_ptr<EmbeddedRedis> redis;
  std::thread([&] { redis = open(); }).join();
  const pid_t server = the_server();

  EXPECT_TRUE(lives_on());
  EXPECT_EQ(the_server(), server);
}

TEST_F(Embedded, CtrlCInTheTerminalDoesNotReachTheRedis) {
  const Peer owner(data_);
  ASSERT_EQ(owner.open(), 'o');
  const pid_t server = the_server();

  ASSERT_EQ(::kill(-owner.pid(), SIGINT), 0);

  EXPECT_TRUE(lives_on());
  EXPECT_EQ(the_server(), server);
  EXPECT_EQ(owner.role(), 'o');
}

TEST_F(Embedded, AKilledRedisIsStartedAgainOverItsOldSocket) {
  const auto redis = open();
  ASSERT_EQ(ask({"SET", "job", "kept"}), "OK");
  const pid_t server = the_server();

  ::kill(server, SIGKILL);

  EXPECT_TRUE(eventually([&] { return ask({"GET", "job"}) == "kept"; }));
  EXPECT_NE(the_server(), server);
  EXPECT_TRUE(redis->is_owner());
  EXPECT_NE(log().find("was ended by signal 9"), std::string::npos) << log();
}

TEST_F(Embedded, AnApplicationThatIgnoresSigchldIsServedAsWell) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const auto redis = open();
  const pid_t server = the_server();
  EXPECT_EQ(ask({"BGREWRITEAOF"}).substr(0, 10), "Background");  // Redis needs its own SIGCHLD.
  EXPECT_TRUE(eventually([&] {
    return ask({"INFO", "persistence"}).find("aof_last_rewrite_time_sec:-1") == std::string::npos;
  }));

  ::kill(server, SIGKILL);

  EXPECT_TRUE(eventually([&] { return ask({"PING"}) == "PONG"; }));
  std::signal(SIGCHLD, before);
}

TEST_F(Embedded, TheRedisHoldsNoOtherDescriptorsOfItsOwner) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const embedded::Fd reader(pipe[0]);
  const auto redis = open();

  ::close(pipe[1]);

  pollfd end{reader.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&end, 1, 1000), 1) << "somebody else can still write";
  EXPECT_NE(end.revents & POLLHUP, 0);
}

TEST_F(Embedded, ARedisThatDoesNotEndIsKilled) {
  const embedded::Folder folder(data_);
  auto lock = folder.try_lock();
  ASSERT_TRUE(lock);
  embedded::Child child(embedded::find_server(), folder, *lock);
  ASSERT_TRUE(eventually([&] { return ask({"PING"}) == "PONG"; }));
  ::kill(child.pid(), SIGSTOP);

  EXPECT_EQ(child.stop(100ms), embedded::Child::Stop::killed);

  EXPECT_EQ(child.ended()->substr(0, 23), "was ended by signal 9: ");
}

TEST_F(Embedded, ALogThatHasGrownLargeIsPutAside) {
  std::filesystem::create_directory(data_);
  std::ofstream(data_ / "redis.log") << std::string(1024 * 1024 + 1, 'x');

  const auto redis = open();

  EXPECT_LT(std::filesystem::file_size(data_ / "redis.log"), 100'000U);
  EXPECT_GT(std::filesystem::file_size(data_ / "redis.log.old"), 1024U * 1024);
}

}  // namespace
}  // namespace duly::testing
