#pragma once

#include <string>
#include <string_view>

#include "duly/job.h"

namespace duly::cli {

/// Reads one line of `put --ndjson`; what it does not say is taken from `defaults`.
///
/// Errors  invalid_argument: naming the field, never showing the payload. Unknown fields are
/// refused. Source  docs/cli.md, "put".
NewJob parse_job_line(std::string_view line, const NewJob& defaults);

}  // namespace duly::cli
