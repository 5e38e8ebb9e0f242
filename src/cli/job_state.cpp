#include "src/cli/job_state.h"

#include "src/core/bytes.h"

namespace duly::cli {

JobState parse_state(const std::string& word) {
  for (const JobState state :
       {JobState::scheduled, JobState::ready, JobState::active, JobState::dead, JobState::done}) {
    if (word == to_string(state)) return state;
  }
  throw Error(ErrorCode::invalid_argument,
              "state: \"" + core::printable(core::cut_utf8(word, 60)) +
                  "\", expected scheduled, ready, active, dead or done");
}

Colour colour_of(JobState state) {
  switch (state) {
    case JobState::scheduled:
      return Colour::blue;
    case JobState::ready:
      return Colour::yellow;
    case JobState::active:
      return Colour::green;
    case JobState::dead:
      return Colour::red;
    case JobState::done:
      break;
  }
  return Colour::dim;
}

}  // namespace duly::cli
