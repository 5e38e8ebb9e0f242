#pragma once

#include <string>
#include <string_view>

#include "duly/job.h"

namespace duly::cli {

/// A job as a line says it.
struct JobLine {
  NewJob job{};
  // As `export` found it:
  bool was_ended = false;  ///< Dead or done.
  bool is_readable = true;
};

/// Reads one line of `put --ndjson`; what it does not say is taken from `defaults`.
///
/// Errors  invalid_argument: naming the field, never showing the payload. Unknown fields are
/// refused. Source  docs/cli.md, "put".
JobLine parse_job_line(std::string_view line, const NewJob& defaults);

}  // namespace duly::cli
