#pragma once

#include <string>

#include "duly/job.h"
#include "src/cli/terminal.h"

namespace duly::cli {

/// Errors  invalid_argument: no state that jobs can be listed by.
JobState parse_state(const std::string& word);

Colour colour_of(JobState state);

}  // namespace duly::cli
