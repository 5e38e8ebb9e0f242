#include "src/cli/bench/slices.h"

#include <algorithm>
#include <cmath>

namespace duly::cli {
namespace {

using Clock = std::chrono::steady_clock;

double rate_of(const Step& step, std::chrono::milliseconds length) {
  const auto begun_at = Clock::now();
  std::size_t jobs = 0;
  auto now = begun_at;
  for (; now - begun_at < length; now = Clock::now()) jobs += step();
  return static_cast<double>(jobs) / std::chrono::duration<double>(now - begun_at).count();
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
  for (const Step& step : contenders) rate_of(step, slices.length / 5);
  std::vector<std::vector<double>> rates(count);
  for (std::size_t round = 0; round < slices.rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t turn = round % 2 == 0 ? i : count - 1 - i;
      rates[turn].push_back(rate_of(contenders[turn], slices.length));
    }
  }
  std::vector<Measured> measured;
  for (const auto& own : rates) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < slices.rounds; ++round) {
      ratios.push_back(rates.front()[round] / own[round]);
    }
    measured.push_back({.rate = median(own), .ratio = median(ratios)});
  }
  return measured;
}

}  // namespace duly::cli
