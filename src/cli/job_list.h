#pragma once

#include <optional>
#include <vector>

#include "duly/job.h"
#include "src/cli/context.h"

namespace duly::cli {

struct JobList {
  QueueName queue{};
  std::vector<JobState> states{};
  std::optional<std::uint64_t> most{100};  ///< Of each state; empty for all.
};

/// Prints jobs, a page at a time: as a table, or as JSON, one a line. Answers the exit status.
int print_jobs(const Context& context, const JobList& list);

}  // namespace duly::cli
