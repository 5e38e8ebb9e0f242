#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "duly/job.h"

namespace duly::cli {

/// Bounds of a number, both included.
struct Range {
  std::uint64_t least;
  std::uint64_t most;
};

// Each adds an option (or, without dashes, a place) and stores what is given in `target`, which
// must live as long as the app. What does not fit is an invalid_argument error that names the
// option.

CLI::Option* add_text(CLI::App& app, const std::string& names, std::optional<std::string>& target,
                      const std::string& help);
/// Whole decimal digits only: no sign, no 0x, no 1e3.
CLI::Option* add_number(CLI::App& app, const std::string& names,
                        std::optional<std::uint64_t>& target, Range range, const std::string& help);
CLI::Option* add_fraction(CLI::App& app, const std::string& names, std::optional<double>& target,
                          const std::string& help);
/// 90s, 1h30m, 250ms: core::parse_duration.
CLI::Option* add_duration(CLI::App& app, const std::string& names,
                          std::optional<Milliseconds>& target, const std::string& help);
/// RFC 3339 or epoch seconds: core::parse_time.
CLI::Option* add_time(CLI::App& app, const std::string& names, std::optional<SystemTime>& target,
                      const std::string& help);

/// The place QUEUE; the name is checked at once, so that a wrong one costs no connection.
void add_queue(CLI::App& app, QueueName& target);
/// The same as an option --queue, where places are something else.
void add_queue_option(CLI::App& app, QueueName& target);
/// The place ID, and TOKEN.
void add_id(CLI::App& app, JobId& target);
void add_token(CLI::App& app, LeaseToken& target);

/// One or more ids; `[a,b]` is one id, though CLI11 would make two of it.
CLI::Option* add_ids(CLI::App& app, std::vector<JobId>& target);
/// Any number of queues.
CLI::Option* add_queues(CLI::App& app, std::vector<QueueName>& target, const std::string& help);

}  // namespace duly::cli
