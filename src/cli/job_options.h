#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "duly/job.h"

namespace duly::cli {

/// Everything of a NewJob but its payload, as options of a command.
class JobOptions {
 public:
  void add_to(CLI::App& command);

  /// Those that can hold for many jobs: without --in, --at and --id.
  void add_common_to(CLI::App& command);

  /// A job with what was given; the defaults of NewJob for the rest.
  [[nodiscard]] NewJob job() const;

  /// Whether --id was given: one id cannot stand for many jobs.
  [[nodiscard]] bool has_id() const { return id_.has_value(); }

 private:
  std::optional<std::string> type_{};
  std::optional<std::string> id_{};
  std::optional<Milliseconds> delay_{};
  std::optional<SystemTime> due_at_{};
  std::optional<std::uint64_t> priority_{};
  std::optional<std::uint64_t> max_attempts_{};
  std::optional<Milliseconds> lease_{};
  std::optional<Milliseconds> timeout_{};
  std::optional<std::string> backoff_kind_{};
  std::optional<Milliseconds> backoff_base_{};
  std::optional<Milliseconds> backoff_cap_{};
  std::optional<double> backoff_factor_{};
  std::optional<double> jitter_{};
};

/// The kind that a word names. Errors  invalid_argument.
Backoff::Kind parse_backoff_kind(const std::string& word);

}  // namespace duly::cli
