#include <csignal>
#include <map>
#include <random>

#include "tests/e2e/worker_fixture.h"
#include "tests/support/program.h"
#include "tests/support/raw_redis.h"

namespace duly::testing {
namespace {

constexpr int kThere = 40'000;
constexpr int kAdded = 20'000;

// What an old producer does: it knows nothing of duly.
constexpr auto kProducer = R"python(
import redis, sys, time
link = redis.Redis(unix_socket_path=sys.argv[1])
for n in range(int(sys.argv[2])):
    link.zadd("old", {f"added-{n}": time.time() + n % 3 / 10})
)python";

class SlowCliImport : public WorkerTest {
 protected:
  long members() { return std::stol(redis_.cli("ZCARD", "old")); }

  Program import() {
    return Program({DULY_BINARY_DIR "/duly", "--redis", redis_.url(), "import", "zset", "old",
                    "--queue", "mail"});
  }
};

TEST_F(SlowCliImport, KilledAgainAndAgainWhileAProducerWritesDeliversEachMemberOnce) {
  RawRedis raw(redis_.socket_path());
  for (int first = 0; first < kThere; first += 500) {
    std::vector<std::string> words{"ZADD", "old"};
    for (int i = first; i < first + 500; ++i) {
      words.emplace_back("1700000000");
      words.push_back("there-" + std::to_string(i));
    }
    raw.command(words);
  }
  std::mutex mutex;
  std::map<std::string, int> delivered;
  RunningWorker worker(redis_.url(), {.queues = {"mail"}, .concurrency = 4}, [&](Attempt& attempt) {
    const std::lock_guard lock(mutex);
    ++delivered[attempt.job().payload];
  });
  Program producer(
      {"/usr/bin/python3", "-c", kProducer, redis_.socket_path(), std::to_string(kAdded)});

  std::mt19937 random(17);  // NOLINT(cert-msc51-cpp): about the same each time
  int killed_in_the_middle = 0;
  for (int round = 0; round < 25; ++round) {
    const long before = members();
    Program one = import();
    EXPECT_TRUE(eventually([&] { return members() < before - 250; }) || members() < 250);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    one.signal(SIGKILL);
    const ProgramEnd end = one.wait();
    if (end.signal == SIGKILL && members() > 0) ++killed_in_the_middle;
  }
  const ProgramEnd produced = producer.wait();
  ASSERT_EQ(produced.status, 0) << produced.err;
  const ProgramEnd last = import().wait();
  ASSERT_EQ(last.status, 0) << last.err;

  ASSERT_TRUE(worker.ends(kThere + kAdded, std::chrono::seconds{30}));
  EXPECT_GE(killed_in_the_middle, 3);
  EXPECT_EQ(members(), 0);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(delivered.size(), static_cast<std::size_t>(kThere + kAdded));
  for (const auto& [member, times] : delivered) ASSERT_EQ(times, 1) << member;
  EXPECT_EQ(stats().totals.put, static_cast<std::uint64_t>(kThere + kAdded));
}

}  // namespace
}  // namespace duly::testing
