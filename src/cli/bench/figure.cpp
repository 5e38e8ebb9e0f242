#include "src/cli/bench/figure.h"

#include <cmath>
#include <cstdio>
#include <utility>

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

Row beside_floor(std::string name, const std::vector<Measured>& measured) {
  const Measured& ours = measured[0];
  const Measured& floor = measured[1];
  Row row{.name = std::move(name),
          .value = ours.rate,
          .unit = "jobs/s",
          .floor = floor.rate,
          .ratio = floor.ratio};
  row.more["client_us"] = ours.our_us;
  row.more["redis_us"] = ours.server_us;
  row.more["floor_client_us"] = floor.our_us;
  row.more["floor_redis_us"] = floor.server_us;
  return row;
}

Slices Bench::slices(pid_t redis) const {
  if (is_quick) return {.server = redis, .rounds = 3, .length = std::chrono::milliseconds{250}};
  return {.server = redis};
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
