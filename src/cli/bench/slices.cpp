#include "src/cli/bench/slices.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace duly::cli {
namespace {

using Clock = std::chrono::steady_clock;

double processor_us(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

/// What one contender has done in all its slices.
struct Work {
  std::vector<double> rates{};
  double jobs = 0;
  double our_us = 0;
  double server_us = 0;
};

void do_slice(const Step& step, const Slices& slices, std::chrono::milliseconds length,
              Work& work) {
  const double ours = processor_us(0);
  const double servers = processor_us(slices.server);
  const auto begun_at = Clock::now();
  std::size_t jobs = 0;
  auto now = begun_at;
  for (; now - begun_at < length; now = Clock::now()) jobs += step();
  const auto count = static_cast<double>(jobs);
  work.rates.push_back(count / std::chrono::duration<double>(now - begun_at).count());
  work.jobs += count;
  work.our_us += processor_us(0) - ours;
  work.server_us += processor_us(slices.server) - servers;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = std::ceil(share * static_cast<double>(values.size())) - 1;
  return values[static_cast<std::size_t>(std::max(0.0, place))];
}

std::vector<Measured> alternate(const std::vector<Step>& contenders, const Slices& slices) {
  const std::size_t count = contenders.size();
  for (const Step& step : contenders) {
    Work ignored;
    do_slice(step, slices, slices.length / 5, ignored);
  }
  std::vector<Work> works(count);
  for (std::size_t round = 0; round < slices.rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t turn = round % 2 == 0 ? i : count - 1 - i;
      do_slice(contenders[turn], slices, slices.length, works[turn]);
    }
  }
  std::vector<Measured> measured;
  for (const Work& own : works) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < slices.rounds; ++round) {
      ratios.push_back(works.front().rates[round] / own.rates[round]);
    }
    measured.push_back({.rate = median(own.rates),
                        .ratio = median(ratios),
                        .our_us = own.our_us / own.jobs,
                        .server_us = own.server_us / own.jobs});
  }
  return measured;
}

}  // namespace duly::cli
