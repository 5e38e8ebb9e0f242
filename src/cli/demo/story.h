#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "duly/job.h"

namespace duly::cli::demo {

inline constexpr auto kQueue = "shop";
/// Short, so that recovery is seen soon.
inline constexpr Milliseconds kLease{2000};
/// How long a job of type `report` runs: the worker that is killed holds some of these.
inline constexpr Milliseconds kReportTime{1000};

/// When all of it has been due.
inline constexpr Milliseconds kLastDue{10'500};

/// Failures after which a job runs again: two of the one that then works, two of the one that never
/// does.
inline constexpr std::uint64_t kRetries = 4;

/// One job of the story, and what is said when it runs.
struct Scene {
  NewJob job;
  std::string text{};  ///< Empty: one of many, which only the table counts.
};

/// The shop's three jobs, a few that go wrong, and 500 more over ten seconds.
std::vector<Scene> scenes();

/// What a worker process does with a job. Throws as a handler does.
void play(const ActiveJob& job, const std::stop_token& stop);

}  // namespace duly::cli::demo
