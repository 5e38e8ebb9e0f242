#include "src/cli/bench/figure.h"

#include <cmath>
#include <cstdio>

namespace duly::cli {
namespace {

void add_target(Row& row, const std::string& text, bool is_met) {
  row.target += (row.target.empty() ? "" : ", ") + text;
  row.is_met = row.is_met.value_or(true) && is_met;
}

std::string with_commas(std::string digits) {
  for (std::size_t from_end = 3; from_end < digits.size(); from_end += 4) {
    digits.insert(digits.size() - from_end, ",");
  }
  return digits;
}

}  // namespace

void Row::at_least(std::string_view what, double is, double limit) {
  add_target(*this, std::string(what) + " >= " + number_text(limit), is >= limit);
}

void Row::at_most(std::string_view what, double is, double limit) {
  add_target(*this, std::string(what) + " <= " + number_text(limit), is <= limit);
}

std::string number_text(double value) {
  if (value >= 100) return with_commas(std::to_string(std::llround(value)));
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  return text;
}

Slices Bench::slices() const {
  if (is_quick) return {.rounds = 3, .length = std::chrono::milliseconds{250}};
  return {};
}

const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {{"put_batch100", "life_batch100", "life_single"}, measure_lives},
      {{"bytes_per_job", "life_batch100_1m", "idle_commands_per_s"}, measure_waiting},
      {{"worker_noop", "commands_per_job"}, measure_drain},
      {{"lateness_100ps_1w", "lateness_100ps_100w", "lateness_10kps"}, measure_lateness},
      {{"recovery_after_kill"}, measure_recovery},
      {{"embedded_start"}, measure_start},
      {{"life_10m_vs_0"}, measure_long_queue},
  };
  return all;
}

}  // namespace duly::cli
