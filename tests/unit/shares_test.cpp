#include "src/worker/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace duly {
namespace {

using ::testing::ElementsAre;
using enum Shares::Demand;
using enum QueueOrder;

/// Claims what is granted, all of which comes and ends at once; sums up what each queue got.
std::vector<std::size_t> served(Shares& shares, std::size_t rounds, std::size_t room,
                                const std::vector<Shares::Demand>& demand) {
  std::vector<std::size_t> sums(demand.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::vector<std::size_t> grants = shares.part(room, demand);
    for (std::size_t i = 0; i < grants.size(); ++i) {
      if (grants[i] == 0) continue;
      shares.ask(i, grants[i]);
      shares.answer(i, grants[i], grants[i]);
      for (std::size_t job = 0; job < grants[i]; ++job) shares.free_slot(i);
      sums[i] += grants[i];
    }
  }
  return sums;
}

TEST(Shares, OneQueueGetsAllThatOneClaimTakes) {
  Shares shares({"mail"}, weighted);

  EXPECT_THAT(shares.part(7, {waiting}), ElementsAre(7));
  EXPECT_THAT(shares.part(1000, {waiting}), ElementsAre(250));
  EXPECT_THAT(shares.part(7, {none}), ElementsAre(0));
}

TEST(Shares, SlotsArePartedByWeight) {
  Shares shares({{"high", {.weight = 10}}, {"low", {.weight = 1}}}, weighted);

  EXPECT_THAT(shares.part(110, {waiting, waiting}), ElementsAre(100, 10));
}

TEST(Shares, B47_WeightsHoldWhateverTheRoom) {
  for (const std::size_t room : {1, 2, 3, 7, 400, 500}) {
    Shares shares({{"high", {.weight = 10}}, {"low", {.weight = 1}}}, weighted);

    const auto sums = served(shares, 11'000 / room, room, {waiting, waiting});

    EXPECT_NEAR(static_cast<double>(sums[0]) / static_cast<double>(sums[1]), 10, 0.5) << room;
  }
}

TEST(Shares, EqualWeightsTakeTurns) {
  Shares shares({"mail", "push", "sms"}, weighted);

  EXPECT_THAT(served(shares, 30, 1, {waiting, waiting, waiting}), ElementsAre(10, 10, 10));
}

TEST(Shares, AQueueWithoutJobsLeavesItsShareAndSavesNothingUp) {
  Shares shares({"mail", "push"}, weighted);

  EXPECT_THAT(served(shares, 1000, 1, {waiting, none}), ElementsAre(1000, 0));

  EXPECT_THAT(served(shares, 10, 1, {waiting, waiting}), ElementsAre(5, 5));
}

TEST(Shares, ClaimsThatFindNothingCostNothing) {
  Shares shares({"mail", "push"}, weighted);
  shares.ask(0, 100);
  shares.answer(0, 100, 0);

  EXPECT_THAT(served(shares, 10, 1, {waiting, waiting}), ElementsAre(5, 5));
}

TEST(Shares, SlotsAreKeptForAQueueWhoseClaimIsUnderWay) {
  Shares shares({"mail", "push"}, weighted);

  EXPECT_THAT(shares.part(10, {asked, waiting}), ElementsAre(0, 5));
  EXPECT_THAT(shares.part(10, {none, waiting}), ElementsAre(0, 10));
}

TEST(Shares, StrictServesTheFirstAlone) {
  Shares shares({"mail", "push"}, strict);

  EXPECT_THAT(served(shares, 100, 3, {waiting, waiting}), ElementsAre(300, 0));
  EXPECT_THAT(shares.part(3, {none, waiting}), ElementsAre(0, 3));
  EXPECT_THAT(shares.part(3, {asked, waiting}), ElementsAre(0, 0));
}

TEST(Shares, B46_ReservedSlotsAreForTheirQueue) {
  Shares shares({"low", {"critical", {.reserved = 1}}}, weighted);

  EXPECT_THAT(shares.part(4, {waiting, none}), ElementsAre(3, 0));
  EXPECT_THAT(shares.part(1, {waiting, waiting}), ElementsAre(0, 1));
}

TEST(Shares, ReservedSlotsInUseAreNotHeldBackTwice) {
  Shares shares({"low", {"critical", {.reserved = 1}}}, weighted);
  shares.ask(1, 1);
  shares.answer(1, 1, 1);

  EXPECT_THAT(shares.part(3, {waiting, none}), ElementsAre(3, 0));

  shares.free_slot(1);
  EXPECT_THAT(shares.part(4, {waiting, none}), ElementsAre(3, 0));
}

TEST(Shares, StrictKeepsReservedSlotsOfLaterQueues) {
  Shares shares({"high", {"low", {.reserved = 2}}}, strict);

  EXPECT_THAT(shares.part(5, {waiting, waiting}), ElementsAre(3, 2));
}

}  // namespace
}  // namespace duly
