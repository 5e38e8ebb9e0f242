#include "src/core/backoff.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "src/core/check.h"

namespace duly::core {
namespace {

using namespace std::chrono_literals;

constexpr double kAlmostOne = 0.99999999999999988;  // The largest double below 1.

std::vector<std::uint64_t> many_failures() {
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = 0; n <= 2'000; ++n) all.push_back(n);
  for (std::uint64_t n = 2'001; n <= 100'000; n += 97) all.push_back(n);
  all.push_back(100'000);
  all.push_back(std::numeric_limits<std::int32_t>::max());
  all.push_back(std::numeric_limits<std::int64_t>::max());
  all.push_back(std::numeric_limits<std::uint64_t>::max());
  return all;
}

std::vector<Backoff> many_backoffs() {
  std::vector<Backoff> all;
  for (const Milliseconds base : {Milliseconds{1ms}, Milliseconds{1s}, Milliseconds{24h}}) {
    for (const double factor : {1.0, 1.001, 1.5, 2.0, 10.0, 1e6}) {
      for (const Milliseconds cap :
           {Milliseconds{0}, Milliseconds{1s}, Milliseconds{24h}, Limits::backoff}) {
        if (cap != Milliseconds{0} && cap < base) continue;
        all.push_back({.base = base, .cap = cap, .factor = factor, .jitter = 0.2});
      }
    }
  }
  return all;
}

TEST(Backoff, B50NeverDecreasesStaysAtTheCapAndIsAtLeastTheBase) {
  const std::vector<std::uint64_t> failures = many_failures();
  for (const Backoff& backoff : many_backoffs()) {
    ASSERT_EQ(check_backoff(backoff), std::nullopt);
    const Milliseconds cap = backoff.cap == Milliseconds{0} ? Limits::backoff : backoff.cap;
    Milliseconds last{0};
    for (const std::uint64_t n : failures) {
      const Milliseconds wait = backoff_delay(backoff, n, 0.0);
      ASSERT_GE(wait, backoff.base) << n;
      ASSERT_GE(wait, last) << n;
      ASSERT_LE(wait, cap) << n;
      last = wait;
    }
    EXPECT_EQ(last, backoff.factor == 1.0 ? backoff.base : cap);
  }
}

TEST(Backoff, B50JitterOnlyAddsAndAddsAtMostItsPart) {
  for (const Backoff& backoff : many_backoffs()) {
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{100'000},
                                  std::numeric_limits<std::uint64_t>::max()}) {
      const Milliseconds plain = backoff_delay(backoff, n, 0.0);
      for (const double random : {0.0, 0.25, 0.5, kAlmostOne}) {
        const Milliseconds wait = backoff_delay(backoff, n, random);
        ASSERT_GE(wait, plain);
        ASSERT_LE(wait, (plain + 1ms) * 6 / 5) << n;
      }
    }
  }
}

TEST(Backoff, IsMinOfCapAndBaseTimesPowerOfFactor) {
  const Backoff backoff{.base = 10s, .cap = 1min, .factor = 2.0};
  EXPECT_EQ(backoff_delay(backoff, 1, 0.0), 10s);
  EXPECT_EQ(backoff_delay(backoff, 2, 0.0), 20s);
  EXPECT_EQ(backoff_delay(backoff, 3, 0.0), 40s);
  EXPECT_EQ(backoff_delay(backoff, 4, 0.0), 1min);
  EXPECT_EQ(backoff_delay(backoff, 5, 0.0), 1min);
  EXPECT_EQ(backoff_delay({.base = 1s, .factor = 1.5}, 3, 0.0), 2250ms);
}

TEST(Backoff, JitterSpreadsTheHerdAtTheCapToo) {
  const Backoff backoff{.base = 10s, .cap = 1min, .jitter = 0.5};
  EXPECT_EQ(backoff_delay(backoff, 100, 0.0), 1min);
  EXPECT_EQ(backoff_delay(backoff, 100, 0.5), 75s);
}

TEST(Backoff, ABaseOfZeroMeansNoWait) {
  for (const std::uint64_t n : many_failures()) {
    ASSERT_EQ(backoff_delay({.base = 0ms, .factor = 1e6, .jitter = 1.0}, n, 0.9), 0ms);
  }
}

TEST(Backoff, ACapOfZeroMeansTheLimit) {
  EXPECT_EQ(backoff_delay({.base = 1s, .cap = 0ms, .factor = 10.0}, 1'000, 0.0), Limits::backoff);
}

TEST(Backoff, FixedWaitsTheBaseEachTime) {
  const Backoff backoff{.kind = Backoff::Kind::fixed, .base = 24h, .jitter = 0.1};
  ASSERT_EQ(check_backoff(backoff), std::nullopt);  // Above the default cap, which it does not use.
  for (const std::uint64_t n : many_failures()) {
    ASSERT_EQ(backoff_delay(backoff, n, 0.0), 24h);
  }
  EXPECT_EQ(backoff_delay(backoff, 3, 0.5), 24h + 72min);
}

TEST(Backoff, FactorAndJitterCountAsTheRecordKeepsThem) {
  EXPECT_EQ(backoff_delay({.base = 1s, .factor = 1.0004}, 1'000, 0.0), 1s);
  EXPECT_EQ(backoff_delay({.base = 100s, .jitter = 0.004}, 1, 0.9), 100s);
}

}  // namespace
}  // namespace duly::core
