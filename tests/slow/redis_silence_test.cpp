#include <gtest/gtest.h>

#include <atomic>

#include "tests/e2e/redis_fixture.h"
#include "tests/support/fake_server.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

TEST(RedisSilence, B28AHalfOpenSubscriptionIsAskedAndThenMadeAnew) {
  std::promise<std::vector<std::string>> question;
  FakeServer server([&](FakePeer& peer, int number) {
    peer.read_command();
    peer.write("*1\r\n*-1\r\n");
    peer.read_command();
    peer.write("*3\r\n$9\r\nsubscribe\r\n$4\r\nwake\r\n:1\r\n");
    if (number == 0) question.set_value(peer.read_command());
    peer.wait_until_closed();
  });
  OneLink link(server.url(), {.client_name = ""});
  std::atomic<int> subscribed = 0;
  const auto subscription =
      link.topology().subscribe("wake", {.message = {}, .subscribed = [&] { ++subscribed; }});
  ASSERT_TRUE(eventually([&] { return subscribed == 1; }));

  std::vector<std::string> asked;
  const auto until_asked = time_of([&] { asked = question.get_future().get(); });
  EXPECT_EQ(asked, (std::vector<std::string>{"PING"}));
  EXPECT_GT(until_asked, 4s);
  EXPECT_LT(until_asked, 6s);

  EXPECT_TRUE(eventually([&] { return subscribed == 2; }, 6s));
  EXPECT_TRUE(link.has_logged("silent for 10 s")) << link.log();
}

TEST(RedisSilence, AServerThatAnswersIsKept) {
  std::atomic<int> pings = 0;
  FakeServer server([&](FakePeer& peer, int) {
    peer.read_command();
    peer.write("*1\r\n*-1\r\n");
    peer.read_command();
    peer.write("*3\r\n$9\r\nsubscribe\r\n$4\r\nwake\r\n:1\r\n");
    while (!peer.read_command().empty()) {
      ++pings;
      peer.write("*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    }
  });
  OneLink link(server.url(), {.client_name = ""});
  const auto subscription = link.topology().subscribe("wake", {});

  EXPECT_TRUE(eventually([&] { return pings == 3; }, 20s));

  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(link.log(), "");
}

}  // namespace
}  // namespace duly::testing
