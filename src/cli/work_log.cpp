#include "src/cli/work_log.h"

#include <array>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>

#include "src/cli/logging.h"
#include "src/cli/progress.h"
#include "src/cli/terminal.h"

namespace duly::cli {
namespace {

constexpr std::chrono::seconds kFirst{2};
constexpr std::chrono::seconds kNext{10};

double in_ms(std::chrono::nanoseconds time) {
  constexpr double kPlaces = 1'000;  // Microseconds are enough.
  return static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(time).count()) /
         kPlaces;
}

std::string one_place(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", number);
  return text.data();
}

std::string counts_text(const WorkerStats& stats) {
  return std::to_string(stats.acked) + " acked, " + std::to_string(stats.failed) + " failed, " +
         std::to_string(stats.died) + " dead, " + std::to_string(stats.released) + " released, " +
         std::to_string(stats.cancelled) + " cancelled, " + std::to_string(stats.lease_lost) +
         " leases lost";
}

Json counts_json(const WorkerStats& stats) {
  return {{"acked", stats.acked},         {"failed", stats.failed},
          {"dead", stats.died},           {"released", stats.released},
          {"cancelled", stats.cancelled}, {"lease_lost", stats.lease_lost}};
}

}  // namespace

void WorkLog::finished(const WorkerOptions::Report& report) {
  const ActiveJob& job = report.job;
  const std::chrono::nanoseconds late = lateness_of(report);
  {
    const std::lock_guard lock(mutex_);
    late_.add(late);
  }
  Json fields{{"queue", job.queue.text()},
              {"id", job.id.text()},
              {"type", job.type},
              {"attempt", job.attempt},
              {"max_attempts", job.max_attempts},
              {"run_ms", in_ms(report.run_time)},
              {"late_ms", in_ms(late)}};
  std::string text =
      std::string(to_string(report.outcome)) + " queue=" + job.queue.text() +
      " id=" + job.id.text() + " type=" + (job.type.empty() ? "-" : job.type) +
      " attempt=" + std::to_string(job.attempt) + "/" + std::to_string(job.max_attempts) +
      " run=" + one_place(in_ms(report.run_time)) + "ms late=" + one_place(in_ms(late)) + "ms";
  if (!report.error.empty()) {
    fields["error"] = report.error;
    text += " error=" + report.error;
  }
  const bool is_good =
      report.outcome == LeaseOutcome::acked || report.outcome == LeaseOutcome::cancelled;
  log_event(is_good ? LogLevel::info : LogLevel::warning, to_string(report.outcome), fields, text);
}

std::jthread WorkLog::watch(const Worker& worker) {
  if (!is_terminal(Stream::err)) return {};
  return std::jthread([this, &worker](const std::stop_token& ended) {
    std::unique_lock lock(pause_mutex_);
    auto told = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>{};
    for (auto pause = kFirst; !ended.stop_requested(); pause = kNext) {
      pause_.wait_for(lock, ended, pause, [] { return false; });
      if (ended.stop_requested()) return;
      const WorkerStats stats = worker.stats();
      const auto now = std::tuple{stats.acked, stats.failed, stats.running};
      if (std::exchange(told, now) != now) tell(stats);
    }
  });
}

void WorkLog::tell(const WorkerStats& stats) const {
  const auto speed = rate(stats.acked + stats.failed, std::chrono::steady_clock::now() - begun_at_);
  Json fields = counts_json(stats);
  fields["running"] = stats.running;
  fields["jobs_per_s"] = speed;
  log_event(LogLevel::info, "working", fields,
            "working: " + counts_text(stats) + ", " + std::to_string(stats.running) + " running; " +
                std::to_string(speed) + " jobs/s");
}

void WorkLog::summary(const WorkerStats& stats) {
  const std::lock_guard lock(mutex_);
  const auto time = std::chrono::steady_clock::now() - begun_at_;
  Json fields = counts_json(stats);
  std::string text = "stopped: " + counts_text(stats);
  if (late_.count() > 0) {
    const double p50 = in_ms(late_.quantile(0.5));
    const double p99 = in_ms(late_.quantile(0.99));
    fields["late_p50_ms"] = p50;
    fields["late_p99_ms"] = p99;
    text += "; late p50 " + one_place(p50) + " ms, p99 " + one_place(p99) + " ms";
  }
  fields["time_ms"] = in_ms(time);
  text += "; in " + one_place(in_ms(time) / 1'000) + " s";
  log_event(LogLevel::info, "stopped", fields, text);
}

}  // namespace duly::cli
