#include <gtest/gtest.h>

#include <vector>

#include "duly/job.h"

namespace duly {
namespace {

template <class Enum>
std::vector<std::string_view> words(std::initializer_list<Enum> values) {
  std::vector<std::string_view> out;
  for (const Enum value : values) out.push_back(to_string(value));
  return out;
}

using Words = std::vector<std::string_view>;

TEST(Words, EachEnumeratorIsItsOwnName) {
  EXPECT_EQ(words({JobState::scheduled, JobState::ready, JobState::active, JobState::done,
                   JobState::dead}),
            (Words{"scheduled", "ready", "active", "done", "dead"}));
  EXPECT_EQ(words({DeadReason::failed, DeadReason::given_up, DeadReason::quarantined,
                   DeadReason::unreadable}),
            (Words{"failed", "given_up", "quarantined", "unreadable"}));
  EXPECT_EQ(words({PutOutcome::created, PutOutcome::exists, PutOutcome::refused}),
            (Words{"created", "exists", "refused"}));
  EXPECT_EQ(
      words({LeaseOutcome::acked, LeaseOutcome::failed, LeaseOutcome::dead, LeaseOutcome::released,
             LeaseOutcome::extended, LeaseOutcome::cancelled, LeaseOutcome::lease_lost}),
      (Words{"acked", "failed", "dead", "released", "extended", "cancelled", "lease_lost"}));
  EXPECT_EQ(words({ChangeOutcome::done, ChangeOutcome::asked, ChangeOutcome::not_found,
                   ChangeOutcome::wrong_state}),
            (Words{"done", "asked", "not_found", "wrong_state"}));
  EXPECT_EQ(words({Damage::no_place, Damage::two_places, Damage::no_record, Damage::no_job,
                   Damage::no_end, Damage::no_list, Damage::counts, Damage::totals}),
            (Words{"no_place", "two_places", "no_record", "no_job", "no_end", "no_list", "counts",
                   "totals"}));
}

TEST(Words, AValueThatIsNoEnumeratorIsUnknown) {
  EXPECT_EQ(to_string(static_cast<JobState>(99)), "unknown");
  EXPECT_EQ(to_string(static_cast<LeaseOutcome>(99)), "unknown");
}

TEST(ErrorCodes, HaveAWordAndAnExitStatus) {
  EXPECT_EQ(words({ErrorCode::invalid_argument, ErrorCode::unavailable, ErrorCode::outcome_unknown,
                   ErrorCode::out_of_memory, ErrorCode::incompatible, ErrorCode::internal}),
            (Words{"invalid_argument", "unavailable", "outcome_unknown", "out_of_memory",
                   "incompatible", "internal"}));
  EXPECT_EQ(exit_status(ErrorCode::invalid_argument), 2);
  EXPECT_EQ(exit_status(ErrorCode::unavailable), 3);
  EXPECT_EQ(exit_status(ErrorCode::outcome_unknown), 4);
  EXPECT_EQ(exit_status(ErrorCode::out_of_memory), 5);
  EXPECT_EQ(exit_status(ErrorCode::incompatible), 6);
  EXPECT_EQ(exit_status(ErrorCode::internal), 1);
}

}  // namespace
}  // namespace duly
