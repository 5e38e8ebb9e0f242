#include "src/cli/demo/tally.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "src/cli/demo/story.h"

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

Figure count(std::string key, std::string name, std::uint64_t value, std::uint64_t expected) {
  return {.key = std::move(key),
          .name = std::move(name),
          .value = value,
          .text = std::to_string(value),
          .expected = std::to_string(expected),
          .is_met = value == expected};
}

Figure one_or_more(std::string key, std::string name, std::uint64_t value) {
  Figure figure = count(std::move(key), std::move(name), value, value);
  figure.expected = "1 or more";
  figure.is_met = value > 0;
  return figure;
}

Figure at_most_ms(std::string key, std::string name, double value, double limit) {
  return {.key = std::move(key),
          .name = std::move(name),
          .value = value,
          .text = ms_text(value),
          .expected = "at most " + ms_text(limit),
          .is_met = value <= limit};
}

using AttemptKey = std::pair<std::string, std::uint32_t>;

AttemptKey key_of(const Line& line) { return {line.id, line.attempt}; }

/// What the lines say, without Redis's own counts.
struct Reading {
  std::set<std::string> run;    ///< Ids that were started.
  std::set<std::string> ended;  ///< Ids that were acked or are dead.
  std::uint64_t early = 0;
  std::uint64_t retried = 0;
  std::uint64_t recovered = 0;
  std::uint64_t doubled = 0;
  std::vector<double> late_ms;
  std::vector<double> recovered_late_ms;
};

Reading read(const std::vector<Line>& starts, const std::vector<Line>& ends) {
  Reading reading;
  std::set<AttemptKey> started;
  std::set<AttemptKey> failed;
  for (const Line& line : ends) {
    if (line.outcome == "failed") failed.insert(key_of(line));
    if (line.outcome == "acked" || line.outcome == "dead") reading.ended.insert(line.id);
  }
  // After a failure an attempt is a retry; after one of which no end is known, a recovery.
  const auto is_recovered = [&failed](const Line& line) {
    return line.attempt > 1 && !failed.contains({line.id, line.attempt - 1});
  };
  std::set<AttemptKey> early;
  for (const Line& line : starts) {
    reading.run.insert(line.id);
    if (!started.insert(key_of(line)).second) ++reading.doubled;
    if (line.attempt > 1) ++(is_recovered(line) ? reading.recovered : reading.retried);
    if (line.lateness < std::chrono::nanoseconds{0}) early.insert(key_of(line));
  }
  for (const Line& line : ends) {
    if (line.lateness < std::chrono::nanoseconds{0}) early.insert(key_of(line));
    (is_recovered(line) ? reading.recovered_late_ms : reading.late_ms)
        .push_back(in_ms(line.lateness));
  }
  reading.early = early.size();
  std::sort(reading.late_ms.begin(), reading.late_ms.end());
  std::sort(reading.recovered_late_ms.begin(), reading.recovered_late_ms.end());
  return reading;
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

std::vector<Figure> Tally::figures(const std::vector<NewJob>& jobs, const QueueStats& stats) const {
  const std::lock_guard lock(mutex_);
  const Reading reading = read(starts_, ends_);
  // Lost, by ids and by Redis's counts. Of what the killed worker held, Redis may know an end that
  // it could not tell any more.
  const auto untold =
      static_cast<std::uint64_t>(std::count_if(jobs.begin(), jobs.end(), [&](const NewJob& job) {
        return !reading.ended.contains(job.id->text()) && !held_at_kill_.contains(job.id->text());
      }));
  const std::uint64_t gone = stats.totals.acked + stats.dead;
  const std::uint64_t uncounted = stats.totals.put > gone ? stats.totals.put - gone : 0;

  std::vector<Figure> all;
  all.push_back(count("jobs", "jobs put", stats.totals.put, jobs.size()));
  all.push_back(count("run", "jobs run", reading.run.size(), jobs.size()));
  all.push_back(count("early", "early", reading.early, 0));
  all.push_back(
      at_most_ms("lateness_p50_ms", "lateness p50", percentile(reading.late_ms, 0.5), 10));
  all.push_back(
      at_most_ms("lateness_p99_ms", "lateness p99", percentile(reading.late_ms, 0.99), 200));
  all.push_back(
      at_most_ms("lateness_max_ms", "lateness max", percentile(reading.late_ms, 1), 2000));
  all.push_back(count("retried", "retried after a failure", reading.retried, kRetries));
  all.push_back(one_or_more("held_at_kill", "held by the killed worker", held_at_kill_.size()));
  all.push_back(one_or_more("recovered", "recovered", reading.recovered));
  all.push_back(count("lost_leases", "lost leases, as Redis counts them", stats.totals.lost_leases,
                      reading.recovered));
  all.push_back(at_most_ms("recovered_lateness_max_ms", "recovered: max after the end of the lease",
                           percentile(reading.recovered_late_ms, 1), 1000));
  all.push_back(count("doubled", "one attempt run twice", reading.doubled, 0));
  all.push_back(count("dead", "dead", stats.dead, 1));
  all.push_back(count("lost", "lost", std::max(untold, uncounted), 0));
  return all;
}

}  // namespace duly::cli::demo
