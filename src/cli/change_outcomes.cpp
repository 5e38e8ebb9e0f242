#include "src/cli/change_outcomes.h"

#include "src/cli/job_text.h"
#include "src/cli/output.h"

namespace duly::cli {

int print_outcomes(const Context& context, const std::vector<JobId>& ids,
                   const std::vector<ChangeOutcome>& outcomes) {
  bool is_all_done = true;  // or asked for, where that is all one can do
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const ChangeOutcome outcome = outcomes.at(i);
    is_all_done =
        is_all_done && (outcome == ChangeOutcome::done || outcome == ChangeOutcome::asked);
    if (context.is_json) {
      print_json(outcome_json(ids[i], to_string(outcome)));
    } else {
      print_line(std::string(to_string(outcome)) + " " + ids[i].text());
    }
  }
  return is_all_done ? 0 : kNothingChanged;
}

}  // namespace duly::cli
