#include "src/core/clock_skew.h"

#include <gtest/gtest.h>

namespace duly::core {
namespace {

using namespace std::chrono_literals;

constexpr SystemTime kNoon{std::chrono::hours{500'000}};

TEST(ClockSkew, NoneIfTheOtherClockWasReadBetweenTwoLooksAtOurs) {
  EXPECT_EQ(least_skew(kNoon, kNoon + 5s, kNoon), 0ms);
  EXPECT_EQ(least_skew(kNoon, kNoon + 5s, kNoon + 5s), 0ms);
}

TEST(ClockSkew, AheadAndBehindByAtLeastTheDistance) {
  EXPECT_EQ(least_skew(kNoon, kNoon + 1s, kNoon - 1h), 1h);
  EXPECT_EQ(least_skew(kNoon, kNoon + 1s, kNoon + 1h), -(1h - 1s));
}

TEST(ClockSkew, NothingIsSaidOfAClockThatWasSetBackMeanwhile) {
  EXPECT_EQ(least_skew(kNoon, kNoon - 1h, kNoon), 0ms);
}

TEST(ClockSkew, TheWarningNamesTheSideAndTheSize) {
  EXPECT_EQ(
      skew_warning(90'500ms),
      "clock: this machine's is 1m30s ahead of Redis's, expected at most 2s; delays hold, but "
      "absolute times mean Redis's clock");
  EXPECT_TRUE(skew_warning(-1h).starts_with("clock: this machine's is 1h behind Redis's, "));
}

}  // namespace
}  // namespace duly::core
