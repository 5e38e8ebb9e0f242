#pragma once

#include <string>
#include <string_view>

#include "duly/job.h"
#include "src/cli/output.h"

namespace duly::cli {

// Jobs and what was said about them, as JSON. Times are epoch milliseconds, null where there is
// none.

Json put_json(const PutResult& result);
Json claim_json(const ActiveJob& job);
Json info_json(const JobInfo& job);
/// As `import ndjson` takes it; `was` holds what a put cannot bring back.
Json export_json(const JobInfo& job);
Json stats_json(const QueueStats& stats);

/// A word such as an outcome about one job: {"id", "outcome"}.
Json outcome_json(const JobId& id, std::string_view outcome);

/// For one line: the beginning of a text, made printable, or of other bytes in hex; and the size if
/// something is missing.
std::string preview(std::string_view payload, std::size_t most);

}  // namespace duly::cli
