#include "src/redis/io.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <future>
#include <thread>
#include <vector>

#include "tests/support/eventually.h"

namespace duly::redis {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::eventually;

/// Runs on the Io's thread, and returns what `work` returns.
template <class F>
auto on(Io& io, F work) {
  std::promise<decltype(work())> result;
  io.post([&] { result.set_value(work()); });
  return result.get_future().get();
}

TEST(RedisIo, RunsWhatIsPostedInOrderOnItsOwnThread) {
  Io io;
  std::vector<int> seen;
  for (int i = 0; i < 1'000; ++i) io.post([&seen, i] { seen.push_back(i); });

  EXPECT_TRUE(on(io, [&] { return io.on_this_thread(); }));
  EXPECT_FALSE(io.on_this_thread());
  ASSERT_EQ(seen.size(), 1'000U);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(seen[i], i);
}

TEST(RedisIo, DropsWhatIsStillPostedWhenItStops) {
  auto held = std::make_shared<int>(0);
  std::atomic<bool> has_run = false;
  {
    Io io;
    io.stop();
    io.post([held, &has_run] { has_run = true; });
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(has_run);
}

TEST(RedisTimer, FiresOnceAndNeverEarly) {
  Io io;
  std::promise<SteadyTime> fired;
  const SteadyTime due = steady_clock::now() + 30ms;
  std::unique_ptr<Io::Timer> timer;
  on(io, [&] {
    timer = io.make_timer();
    timer->arm(due, [&] { fired.set_value(steady_clock::now()); });
    return true;
  });

  const SteadyTime at = fired.get_future().get();
  EXPECT_GE(at, due);
  EXPECT_LT(at, due + 50ms);
  on(io, [&] { return timer.reset(), true; });
}

TEST(RedisTimer, ArmedAgainOrCancelledOrGoneItFiresForTheLastOnly) {
  Io io;
  std::atomic<int> wrong = 0;
  std::promise<void> right;
  std::unique_ptr<Io::Timer> again;
  on(io, [&] {
    // All of these are due at once: their waits have ended before the next line changes its mind.
    again = io.make_timer();
    again->arm(steady_clock::now(), [&] { ++wrong; });
    again->arm(steady_clock::now() + 20ms, [&] { right.set_value(); });
    const auto gone = io.make_timer();
    gone->arm(steady_clock::now(), [&] { ++wrong; });
    const auto cancelled = io.make_timer();
    cancelled->arm(steady_clock::now(), [&] { ++wrong; });
    cancelled->cancel();
    return true;
  });

  right.get_future().wait();
  EXPECT_EQ(wrong, 0);
  on(io, [&] { return again.reset(), true; });
}

TEST(RedisTimer, MayBeDestroyedByItsOwnWork) {
  Io io;
  std::promise<void> done;
  io.post([&] {
    auto timer = std::make_shared<std::unique_ptr<Io::Timer>>(io.make_timer());
    (*timer)->arm(steady_clock::now(), [timer, &done] {
      timer->reset();
      done.set_value();
    });
  });
  done.get_future().wait();
  EXPECT_TRUE(on(io, [] { return true; }));
}

TEST(RedisSignals, AreToldInsteadOfTheirUsualEffectWhileWatched) {
  Io io;
  std::atomic<int> usr1 = 0;
  std::atomic<int> usr2 = 0;
  auto watch =
      io.on_signals({SIGUSR1, SIGUSR2}, [&](int signal) { ++(signal == SIGUSR1 ? usr1 : usr2); });

  ::raise(SIGUSR1);
  EXPECT_TRUE(eventually([&] { return usr1 == 1; }));
  ::raise(SIGUSR2);
  EXPECT_TRUE(eventually([&] { return usr2 == 1; }));

  watch.reset();
  const auto usual = [](int signal) {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL;
  };
  EXPECT_TRUE(eventually([&] { return usual(SIGUSR1) && usual(SIGUSR2); }));
}

TEST(RedisSignals, DroppingTheWatchWaitsForTheCallThatIsRunning) {
  Io io;
  std::promise<void> is_running;
  std::atomic<bool> may_end = false;
  std::atomic<bool> has_ended = false;
  auto watch = io.on_signals({SIGUSR1}, [&](int) {
    is_running.set_value();
    EXPECT_TRUE(eventually([&] { return may_end.load(); }));
    has_ended = true;
  });
  ::raise(SIGUSR1);
  is_running.get_future().wait();
  std::thread other([&] { may_end = true; });

  watch.reset();

  EXPECT_TRUE(has_ended);
  other.join();
}

}  // namespace
}  // namespace duly::redis
