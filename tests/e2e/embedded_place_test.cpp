// Where the private Redis lies, which server it is, and what is said when it cannot start.
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "src/embedded/child.h"
#include "src/embedded/fd.h"
#include "tests/e2e/embedded_fixture.h"
#include "tests/e2e/embedded_peer.h"

namespace duly::testing {
namespace {

using std::filesystem::path;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Answers at a socket as a Redis 5 would.
class OldRedis {
 public:
  explicit OldRedis(const std::string& socket)
      : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket.data(), socket.size());
    if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_.get(), 8) != 0) {
      std::abort();
    }
    thread_ = std::thread([this] { serve(); });
  }
  ~OldRedis() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  OldRedis(const OldRedis&) = delete;
  OldRedis& operator=(const OldRedis&) = delete;

 private:
  void serve() const {
    while (true) {
      const embedded::Fd link(::accept(listener_.get(), nullptr, nullptr));
      if (!link.is_open()) return;
      char first = 0;
      if (::recv(link.get(), &first, 1, 0) != 1) continue;
      const std::string reply =
          first == 'P' ? "+PONG\r\n" : "$44\r\n# Server\r\nredis_version:5.0.7\r\nx:y\r\n\r\n";
      ::send(link.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
    }
  }

  embedded::Fd listener_;
  std::thread thread_;
};

TEST_F(Embedded, AFolderWithALongNameIsReachedThroughALinkWhateverTheEnvironment) {
  data_ = root_ / std::string(150, 'x');
  std::filesystem::create_directory(root_ / "runtime");
  std::filesystem::create_directory(root_ / "other");
  const Environment runtime("XDG_RUNTIME_DIR", (root_ / "runtime").string());
  const Peer alike(data_);
  const Environment other("XDG_RUNTIME_DIR", (root_ / "other").string());
  const Peer different(data_);

  ASSERT_EQ(alike.open(), 'o');
  EXPECT_EQ(different.open(), 'j');

  const auto joined = open();
  const std::string socket = joined->url().substr(std::string("unix://").size());
  EXPECT_TRUE(has(socket, (root_ / "other").string())) << socket;
  EXPECT_EQ(ask_at(socket, {"PING"}), "PONG");
  EXPECT_EQ(servers().size(), 1U);

  std::filesystem::remove_all(root_ / "other" / "duly");
  EXPECT_TRUE(eventually([&] { return ask_at(socket, {"PING"}) == "PONG"; }))
      << "the link is made again";
}

TEST_F(Embedded, ALongNameFallsBackToTmpWhenTheRuntimeFolderIsOpenToOthers) {
  data_ = root_ / std::string(150, 'x');
  std::filesystem::create_directories(root_ / "duly");
  std::filesystem::permissions(root_ / "duly", std::filesystem::perms::all);
  const Environment runtime("XDG_RUNTIME_DIR", root_.string());

  auto redis = open();

  const std::string socket = redis->url().substr(std::string("unix://").size());
  EXPECT_TRUE(socket.starts_with("/tmp/duly-" + std::to_string(::geteuid()) + "/")) << socket;
  EXPECT_EQ(ask_at(socket, {"PING"}), "PONG");
  redis.reset();
  std::filesystem::remove(path(socket).parent_path());
}

TEST_F(Embedded, TheUrlIsPercentEncoded) {
  data_ = root_ / "a b@c%d";

  const auto redis = open();

  EXPECT_EQ(redis->url(), "unix://" + root_.string() + "/a%20b%40c%25d/redis.sock");
  EXPECT_EQ(ask({"PING"}), "PONG");
}

TEST_F(Embedded, NamesOfOneFolderMeetAtOneRedis) {
  std::filesystem::create_directory(data_);
  std::filesystem::create_directory_symlink(data_, root_ / "alias");
  const auto redis = open();

  const auto joined = open(root_ / "alias");

  EXPECT_FALSE(joined->is_owner());
  EXPECT_EQ(joined->url(), redis->url());
}

TEST_F(Embedded, TheDefaultFolderFollowsTheXdgRules) {
  const Environment home("HOME", "/home/somebody");
  const Environment state("XDG_STATE_HOME", "/var/state");
  EXPECT_EQ(EmbeddedRedis::default_folder(), "/var/state/duly");
  const Environment relative("XDG_STATE_HOME", "state");
  EXPECT_EQ(EmbeddedRedis::default_folder(), "/home/somebody/.local/state/duly");
}

TEST_F(Embedded, AFolderThatCannotBeMadeIsAnInvalidArgument) {
  std::ofstream(root_ / "file") << "x";

  EXPECT_TRUE(
      has(refusal(root_ / "file"), "invalid_argument: data folder: " + (root_ / "file").string()));
  EXPECT_TRUE(has(refusal(root_ / "file" / "data"), "Not a directory"));
}

TEST_F(Embedded, WithoutAServerItSaysWhatToDoAndJoinsAllTheSame) {
  const Peer owner(data_);
  const Environment none("PATH", root_.string());
  EXPECT_TRUE(has(refusal(),
                  "unavailable: private Redis: neither redis-server nor valkey-server is on PATH"));
  const Environment wrong("DULY_REDIS_SERVER", "/nowhere/redis-server");
  EXPECT_TRUE(has(refusal(), "unavailable: DULY_REDIS_SERVER: /nowhere/redis-server"));

  ASSERT_EQ(owner.open(), 'o');
  EXPECT_FALSE(open()->is_owner());
}

TEST_F(Embedded, AValkeyServerWillDo) {
  const path bin = root_ / "bin";
  std::filesystem::create_directory(bin);
  const path real = "/usr/bin/valkey-server";
  std::filesystem::create_symlink(std::filesystem::exists(real) ? real : embedded::find_server(),
                                  bin / "valkey-server");
  const Environment only("PATH", bin.string());

  const auto redis = open();

  EXPECT_EQ(ask({"PING"}), "PONG");
  EXPECT_TRUE(has(log(), "started " + (bin / "valkey-server").string())) << log();
}

TEST_F(Embedded, ADamagedFileIsAnErrorWithTheLastLogLinesAlone) {
  open().reset();
  for (const auto& entry : std::filesystem::directory_iterator(data_ / "appendonlydir")) {
    if (entry.path().extension() == ".aof")
      std::ofstream(entry.path(), std::ios::app) << "garbage\r\nmore\r\n";
  }

  const std::string text = refusal();

  EXPECT_TRUE(text.starts_with("unavailable: private Redis of " + data_.string())) << text;
  EXPECT_TRUE(has(text, "ended with status 1: ")) << text;
  EXPECT_TRUE(has(text, "Bad file format reading the append only file")) << text;
  EXPECT_LE(std::count(text.begin(), text.end(), '|'), 2);
}

TEST_F(Embedded, AnArgumentThatTheServerRefusesIsNamed) {
  const Environment server("DULY_REDIS_SERVER",
                           script("exec redis-server \"$@\" --no-such-option yes"));

  EXPECT_TRUE(has(refusal(), "no-such-option"));
}

TEST_F(Embedded, AFileThatIsNoProgramIsNamed) {
  const path file = root_ / "no-program";
  std::ofstream(file) << std::string(100, '\x01');
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  const Environment server("DULY_REDIS_SERVER", file.string());

  EXPECT_TRUE(has(refusal(), file.string() + " ended with status 127: the file is no program"));
}

TEST_F(Embedded, AServerThatIsTooOldIsRefused) {
  std::filesystem::create_directory(data_);
  const OldRedis answers((data_ / "redis.sock").string());
  const Environment server("DULY_REDIS_SERVER", script("exec sleep 60"));

  EXPECT_TRUE(has(refusal(), "is version 5.0.7, expected 6.2 or later"));
}

TEST_F(Embedded, ARestartThatFailsIsToldAndTriedAgain) {
  const Environment server("DULY_REDIS_SERVER", script("exec redis-server \"$@\""));
  const auto redis = open();
  ASSERT_EQ(ask({"SET", "job", "kept"}), "OK");
  const pid_t first = the_server();

  script("echo no room; exit 3");
  ::kill(first, SIGKILL);
  EXPECT_TRUE(eventually([&] { return has(log(), "ended with status 3: no room"); })) << log();
  EXPECT_FALSE(redis->is_owner());
  script("exec redis-server \"$@\"");

  EXPECT_TRUE(eventually([&] { return redis->is_owner(); }));
  EXPECT_EQ(ask({"GET", "job"}), "kept");
}

TEST_F(Embedded, AServerThatLoadsIsAwaitedAndPeopleAreTold) {
  {
    const auto redis = open();
    ASSERT_EQ(ask({"EVAL", "for i = 1, 3600 do redis.call('SET', 'k' .. i, i) end return 1", "0"}),
              "1");
  }
  const Environment slow("DULY_REDIS_SERVER",
                         script("exec redis-server \"$@\" --key-load-delay 600"));

  const auto redis = open();

  EXPECT_EQ(ask({"DBSIZE"}), "3600");
  EXPECT_TRUE(has(log(), "the private Redis of " + data_.string() + " still loads its data"))
      << log();
}

}  // namespace
}  // namespace duly::testing
