#include "src/core/dead_letters.h"

#include <gtest/gtest.h>

namespace duly::core {
namespace {

QueueStats of(std::uint64_t percent, std::uint64_t dropped = 0, bool is_stopped = false) {
  return {.queue = "mail",
          .is_stopped = is_stopped,
          .dead_percent = percent,
          .totals = {.dead_dropped = dropped}};
}

TEST(DeadLetterWatch, B55WarnsOnceFromEightyPercentOn) {
  DeadLetterWatch watch;
  EXPECT_FALSE(watch.look(of(79)));
  EXPECT_EQ(watch.look(of(80)),
            "queue mail: dead letters at 80% of their limit, expected below 80%; replay or purge "
            "some, or see `duly limits`");
  EXPECT_FALSE(watch.look(of(95)));
  EXPECT_FALSE(watch.look(of(10)));
  EXPECT_TRUE(watch.look(of(81)));
}

TEST(DeadLetterWatch, B55TellsWhatWasDroppedSinceTheLastLook) {
  DeadLetterWatch watch;
  EXPECT_TRUE(watch.look(of(100, 7)));  // Of the limit; what was dropped before is old.
  EXPECT_EQ(watch.look(of(100, 57)),
            "queue mail: 50 dead letters dropped, the oldest, as they are at their limit; see "
            "`duly limits`");
  EXPECT_FALSE(watch.look(of(100, 57)));
}

TEST(DeadLetterWatch, B55SaysWhyClaimsStandStill) {
  DeadLetterWatch watch;
  EXPECT_EQ(watch.look(of(100, 0, true)),
            "queue mail: claims stand still, as dead letters are at their limit; replay or purge "
            "some");
  EXPECT_FALSE(watch.look(of(100, 0, true)));
}

}  // namespace
}  // namespace duly::core
