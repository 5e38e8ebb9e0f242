#pragma once

#include <vector>

#include "duly/job.h"
#include "src/cli/context.h"

namespace duly::cli {

/// Prints what became of each job. Answers the exit status: kNothingChanged if one was not done.
int print_outcomes(const Context& context, const std::vector<JobId>& ids,
                   const std::vector<ChangeOutcome>& outcomes);

}  // namespace duly::cli
