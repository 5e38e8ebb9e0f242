#include "src/cli/lateness.h"

#include <algorithm>
#include <cmath>

namespace duly::cli {

using std::chrono::nanoseconds;

nanoseconds lateness_of(const WorkerOptions::Report& report) {
  const nanoseconds before_put = std::max(report.job.put_at - report.job.due_at, Milliseconds{0});
  return std::max(report.lateness - before_put, nanoseconds{0});
}

void Distribution::add(nanoseconds time) {
  const double doublings = std::log2(static_cast<double>(std::max<std::int64_t>(time.count(), 1)));
  const auto place = static_cast<std::size_t>(std::ceil(doublings * kSteps));
  ++counts_.at(std::min(place, counts_.size() - 1));
  ++count_;
}

nanoseconds Distribution::quantile(double part) const {
  if (count_ == 0) return nanoseconds{0};
  const auto wanted = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  std::size_t place = 0;
  while (place + 1 < counts_.size() && (seen += counts_.at(place)) < wanted) ++place;
  return nanoseconds{static_cast<std::int64_t>(std::exp2(static_cast<double>(place) / kSteps))};
}

}  // namespace duly::cli
