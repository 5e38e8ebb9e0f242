#include "duly/job.h"
#include "duly/types.h"

namespace duly {
namespace {

// For a value that is no enumerator: only a cast can make one.
constexpr std::string_view kUnknown = "unknown";

}  // namespace

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::scheduled:
      return "scheduled";
    case JobState::ready:
      return "ready";
    case JobState::active:
      return "active";
    case JobState::done:
      return "done";
    case JobState::dead:
      return "dead";
  }
  return kUnknown;
}

std::string_view to_string(DeadReason reason) {
  switch (reason) {
    case DeadReason::failed:
      return "failed";
    case DeadReason::given_up:
      return "given_up";
    case DeadReason::quarantined:
      return "quarantined";
    case DeadReason::unreadable:
      return "unreadable";
  }
  return kUnknown;
}

std::string_view to_string(PutOutcome outcome) {
  switch (outcome) {
    case PutOutcome::created:
      return "created";
    case PutOutcome::exists:
      return "exists";
    case PutOutcome::refused:
      return "refused";
  }
  return kUnknown;
}

std::string_view to_string(LeaseOutcome outcome) {
  switch (outcome) {
    case LeaseOutcome::acked:
      return "acked";
    case LeaseOutcome::failed:
      return "failed";
    case LeaseOutcome::dead:
      return "dead";
    case LeaseOutcome::released:
      return "released";
    case LeaseOutcome::extended:
      return "extended";
    case LeaseOutcome::cancelled:
      return "cancelled";
    case LeaseOutcome::lease_lost:
      return "lease_lost";
  }
  return kUnknown;
}

std::string_view to_string(ChangeOutcome outcome) {
  switch (outcome) {
    case ChangeOutcome::done:
      return "done";
    case ChangeOutcome::asked:
      return "asked";
    case ChangeOutcome::not_found:
      return "not_found";
    case ChangeOutcome::wrong_state:
      return "wrong_state";
  }
  return kUnknown;
}

std::string_view to_string(Damage damage) {
  switch (damage) {
    case Damage::no_place:
      return "no_place";
    case Damage::two_places:
      return "two_places";
    case Damage::no_record:
      return "no_record";
    case Damage::no_job:
      return "no_job";
    case Damage::no_end:
      return "no_end";
    case Damage::no_list:
      return "no_list";
    case Damage::counts:
      return "counts";
    case Damage::totals:
      return "totals";
  }
  return kUnknown;
}

}  // namespace duly
