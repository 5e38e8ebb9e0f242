#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "tests/e2e/redis_fixture.h"
#include "tests/support/redis_server.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using redis::Subscription;

/// Counts and keeps what one subscription is told.
class Listener {
 public:
  Listener(OneLink& link, const std::string& channel)
      : subscription_(
            link.topology().subscribe(channel, {.message =
                                                    [this](std::string_view message) {
                                                      const std::lock_guard lock(mutex_);
                                                      messages_.emplace_back(message);
                                                    },
                                                .subscribed = [this] { ++subscribed_; }})) {}

  [[nodiscard]] bool is_subscribed(int times = 1) const {
    return eventually([&] { return subscribed_ >= times; });
  }
  [[nodiscard]] bool has_heard(const std::string& message) {
    return eventually([&] {
      const std::lock_guard lock(mutex_);
      return std::find(messages_.begin(), messages_.end(), message) != messages_.end();
    });
  }
  [[nodiscard]] int subscribed() const { return subscribed_; }
  void drop() { subscription_.reset(); }

 private:
  std::atomic<int> subscribed_{0};
  std::mutex mutex_;
  std::vector<std::string> messages_;
  std::unique_ptr<Subscription> subscription_;  // the last: what it calls is there before and after
};

TEST(RedisSubscriber, HearsMessagesOnceItIsSubscribed) {
  RedisServer server;
  OneLink link(server.url());
  Listener listener(link, "wake");
  ASSERT_TRUE(listener.is_subscribed());

  EXPECT_EQ(server.cli("SPUBLISH", "wake", "now"), "1");

  EXPECT_TRUE(listener.has_heard("now"));
}

TEST(RedisSubscriber, ManyChannelsComeAndGo) {
  RedisServer server;
  OneLink link(server.url());
  std::vector<std::unique_ptr<Listener>> listeners;
  listeners.reserve(300);
  for (int i = 0; i < 300; ++i) {
    listeners.push_back(std::make_unique<Listener>(link, "wake" + std::to_string(i)));
  }
  for (const auto& listener : listeners) ASSERT_TRUE(listener->is_subscribed());

  for (std::size_t i = 0; i < listeners.size(); i += 2) listeners[i]->drop();

  EXPECT_TRUE(eventually([&] { return server.cli("SPUBLISH", "wake0", "x") == "0"; }));
  EXPECT_EQ(server.cli("SPUBLISH", "wake1", "y"), "1");
  EXPECT_TRUE(listeners[1]->has_heard("y"));
  EXPECT_EQ(listeners[0]->subscribed(), 1);
}

TEST(RedisSubscriber, TwoOfOneChannelBothHearAndTheLastLeavesIt) {
  RedisServer server;
  OneLink link(server.url());
  Listener first(link, "wake");
  ASSERT_TRUE(first.is_subscribed());
  Listener second(link, "wake");
  ASSERT_TRUE(second.is_subscribed());

  EXPECT_EQ(server.cli("SPUBLISH", "wake", "a"), "1");
  EXPECT_TRUE(first.has_heard("a"));
  EXPECT_TRUE(second.has_heard("a"));
  first.drop();
  EXPECT_EQ(server.cli("SPUBLISH", "wake", "b"), "1");
  EXPECT_TRUE(second.has_heard("b"));
  second.drop();
  EXPECT_TRUE(eventually([&] { return server.cli("PUBSUB", "SHARDCHANNELS").empty(); }));
}

TEST(RedisSubscriber, ComesBackWhenItsConnectionIsKilled) {
  RedisServer server;
  OneLink link(server.url());
  Listener one(link, "one");
  Listener two(link, "two");
  ASSERT_TRUE(one.is_subscribed() && two.is_subscribed());

  ASSERT_EQ(server.cli("CLIENT", "KILL", "TYPE", "pubsub"), "1");

  ASSERT_TRUE(one.is_subscribed(2) && two.is_subscribed(2));
  EXPECT_EQ(server.cli("SPUBLISH", "two", "again"), "1");
  EXPECT_TRUE(two.has_heard("again"));
}

TEST(RedisSubscriber, ComesBackAfterARestart) {
  RedisServer server({.with_tcp = true});
  OneLink link(server.tcp_url());
  Listener listener(link, "wake");
  ASSERT_TRUE(listener.is_subscribed());

  server.restart();

  ASSERT_TRUE(listener.is_subscribed(2));
  EXPECT_EQ(server.cli("SPUBLISH", "wake", "again"), "1");
  EXPECT_TRUE(listener.has_heard("again"));
}

TEST(RedisSubscriber, SubscribesBeforeTheServerIsThere) {
  RedisServer server;
  server.stop(SIGKILL);
  OneLink link(server.url());
  Listener listener(link, "wake");
  ASSERT_TRUE(eventually([&] { return link.has_logged("(subscriptions)"); }));

  server.start();

  EXPECT_TRUE(listener.is_subscribed());
}

TEST(RedisSubscriber, UsesSubscribeWhereSsubscribeIsNotKnown) {
  RedisServer server({.arguments = {"--rename-command", "SSUBSCRIBE", ""}});
  OneLink link(server.url());
  Listener listener(link, "wake");
  ASSERT_TRUE(listener.is_subscribed());

  EXPECT_EQ(server.cli("PUBLISH", "wake", "now"), "1");

  EXPECT_TRUE(listener.has_heard("now"));
}

TEST(RedisSubscriber, UsesSubscribeWhereNeitherCommandNorSsubscribeIsAllowed) {
  RedisServer server({.with_tcp = true});
  ASSERT_EQ(server.cli("ACL", "SETUSER", "plain", "on", ">pw12", "&*", "+subscribe", "+unsubscribe",
                       "+ping"),
            "OK");
  OneLink link("redis://plain:pw12@127.0.0.1:" + std::to_string(server.tcp_port()));
  Listener one(link, "one");
  Listener two(link, "two");
  ASSERT_TRUE(one.is_subscribed() && two.is_subscribed());

  EXPECT_EQ(server.cli("PUBLISH", "one", "now"), "1");

  EXPECT_TRUE(one.has_heard("now"));
}

TEST(RedisSubscriber, NamesAChannelThatIsNotAllowedAndKeepsTheOthers) {
  RedisServer server({.with_tcp = true});
  ASSERT_EQ(
      server.cli("ACL", "SETUSER", "narrow", "on", ">pw12", "resetchannels", "&good", "+@all"),
      "OK");
  OneLink link("redis://narrow:pw12@127.0.0.1:" + std::to_string(server.tcp_port()));
  Listener bad(link, "bad");
  Listener good(link, "good");

  EXPECT_TRUE(good.is_subscribed());
  EXPECT_TRUE(eventually([&] { return link.has_logged("channel bad: NOPERM"); })) << link.log();
  EXPECT_EQ(bad.subscribed(), 0);
}

TEST(RedisSubscriber, DroppingWaitsForTheCallbackThatIsRunning) {
  RedisServer server;
  OneLink link(server.url());
  std::promise<void> is_running;
  std::atomic<bool> may_end = false;
  std::atomic<bool> has_ended = false;
  auto subscription =
      link.topology().subscribe("wake", {.message = {}, .subscribed = [&] {
                                           is_running.set_value();
                                           EXPECT_TRUE(eventually([&] { return may_end.load(); }));
                                           has_ended = true;
                                         }});
  is_running.get_future().wait();
  std::thread other([&] { may_end = true; });

  subscription.reset();

  EXPECT_TRUE(has_ended);
  other.join();
}

TEST(RedisSubscriber, ACallbackMayDropItsOwnSubscription) {
  RedisServer server;
  OneLink link(server.url());
  std::unique_ptr<Subscription> subscription;
  std::promise<void> is_dropped;
  std::promise<void> is_kept;
  auto kept = is_kept.get_future().share();
  subscription = link.topology().subscribe("wake", {.message = {}, .subscribed = [&, kept] {
                                                      kept.wait();
                                                      subscription.reset();
                                                      is_dropped.set_value();
                                                    }});
  is_kept.set_value();

  is_dropped.get_future().wait();
  EXPECT_TRUE(eventually([&] { return server.cli("PUBSUB", "SHARDCHANNELS").empty(); }));
}

TEST(RedisSubscriber, NothingIsCalledAfterDropping) {
  RedisServer server;
  OneLink link(server.url());
  for (int i = 0; i < 200; ++i) {
    auto calls = std::make_unique<std::atomic<int>>(0);
    auto subscription =
        link.topology().subscribe("wake", {.message = [c = calls.get()](std::string_view) { ++*c; },
                                           .subscribed = [c = calls.get()] { ++*c; }});
    if (i % 2 == 0) {
      ASSERT_TRUE(eventually([&] { return *calls > 0; }));
    }
    subscription.reset();
    calls.reset();  // A call after this is a use of freed memory.
  }
  Listener last(link, "wake");
  EXPECT_TRUE(last.is_subscribed());
}

}  // namespace
}  // namespace duly::testing
