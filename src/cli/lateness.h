#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "duly/worker.h"

namespace duly::cli {

/// How long a job has waited after it was due, or, where it was due before, after it was put; never
/// below 0.
std::chrono::nanoseconds lateness_of(const WorkerOptions::Report& report);

/// A distribution of times in memory that does not grow: each is known to within 5 %.
class Distribution {
 public:
  void add(std::chrono::nanoseconds time);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The time that a part (0 .. 1) of them does not exceed; 0 if there are none.
  [[nodiscard]] std::chrono::nanoseconds quantile(double part) const;

 private:
  static constexpr std::size_t kSteps = 16;  // of each doubling
  std::array<std::uint64_t, 64 * kSteps> counts_{};
  std::uint64_t count_ = 0;
};

}  // namespace duly::cli
