#include "src/cli/demo/tally.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

namespace duly::cli::demo {
namespace {

double in_ms(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::string ms_text(double ms) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f ms", ms);
  return text.data();
}

// Of a sorted list.
double percentile(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

Figure count(std::string name, std::uint64_t value, std::uint64_t expected) {
  return {.name = std::move(name),
          .value = value,
          .text = std::to_string(value),
          .expected = std::to_string(expected),
          .is_met = value == expected};
}

Figure at_most_ms(std::string name, double value, double limit) {
  return {.name = std::move(name),
          .value = value,
          .text = ms_text(value),
          .expected = "at most " + ms_text(limit),
          .is_met = value <= limit};
}

}  // namespace

void Tally::add(const Line& line) {
  const std::lock_guard lock(mutex_);
  (line.is_end ? ends_ : starts_).push_back(line);
}

std::set<std::string> Tally::held_by(const std::string& worker) const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> held;
  for (const Line& line : starts_) {
    if (line.worker == worker) held.insert(line.id);
  }
  for (const Line& line : ends_) {
    if (line.worker == worker) held.erase(line.id);
  }
  return held;
}

void Tally::set_held_at_kill(std::set<std::string> ids) {
  const std::lock_guard lock(mutex_);
  held_at_kill_ = std::move(ids);
}

std::size_t Tally::ended() const {
  const std::lock_guard lock(mutex_);
  return ends_.size();
}

std::vector<Figure> Tally::figures(std::size_t jobs, const QueueStats& stats) const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> run;
  std::map<std::pair<std::string, std::uint32_t>, int> runs_of_attempt;
  std::uint64_t retried = 0;
  for (const Line& line : starts_) {
    run.insert(line.id);
    ++runs_of_attempt[{line.id, line.attempt}];
    if (line.attempt > 1 && !held_at_kill_.contains(line.id)) ++retried;
  }
  const auto doubled =
      static_cast<std::uint64_t>(std::count_if(runs_of_attempt.begin(), runs_of_attempt.end(),
                                               [](const auto& entry) { return entry.second > 1; }));
  std::uint64_t early = 0;
  std::vector<double> late;
  std::vector<double> late_again;
  for (const Line& line : ends_) {
    if (line.lateness < std::chrono::nanoseconds{0}) ++early;
    const bool is_again = line.attempt > 1 && held_at_kill_.contains(line.id);
    (is_again ? late_again : late).push_back(in_ms(line.lateness));
  }
  std::sort(late.begin(), late.end());
  std::sort(late_again.begin(), late_again.end());
  const std::uint64_t gone = stats.totals.acked + stats.dead;
  const std::uint64_t lost = stats.totals.put > gone ? stats.totals.put - gone : 0;

  std::vector<Figure> all;
  all.push_back(count("jobs put", stats.totals.put, jobs));
  all.push_back(count("jobs run", run.size(), jobs));
  all.push_back(count("early", early, 0));
  all.push_back(at_most_ms("lateness p50", percentile(late, 0.5), 10));
  all.push_back(at_most_ms("lateness p99", percentile(late, 0.99), 200));
  all.push_back(at_most_ms("lateness max", percentile(late, 1), 2000));
  all.push_back(count("retried", retried, 4));
  all.push_back(count("held by the killed worker", held_at_kill_.size(), held_at_kill_.size()));
  all.back().expected = "1 or more";
  all.back().is_met = !held_at_kill_.empty();
  all.push_back(count("recovered", stats.totals.lost_leases, 0));
  all.back().expected = "1 or more";
  all.back().is_met = stats.totals.lost_leases > 0;
  all.push_back(
      at_most_ms("recovered jobs run again, after lease end", percentile(late_again, 1), 1000));
  all.push_back(count("one attempt run twice", doubled, 0));
  all.push_back(count("dead", stats.dead, 1));
  all.push_back(count("lost", lost, 0));
  return all;
}

}  // namespace duly::cli::demo
