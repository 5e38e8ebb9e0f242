#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace duly::cli {

/// The middle one; of an even number the mean of the two in the middle. Not of none.
double median(std::vector<double> values);

/// The value that so large a share (0 .. 1) of the values does not exceed. Not of none.
double quantile(std::vector<double> values, double share);

/// Does one batch; answers how many jobs that were.
using Step = std::function<std::size_t()>;

struct Slices {
  pid_t server = 0;  ///< Whose processor time is measured beside ours.
  std::size_t rounds = 5;
  std::chrono::milliseconds length{700};  ///< Of each contender in each round.
};

struct Measured {
  double rate = 0;  ///< Jobs a second, median of the rounds.
  double ratio =
      0;  ///< Rate of the first contender over this one's in the same round, median of the rounds.
  double our_us =
      0;  ///< Processor time of this process a job, all threads; hardly moved by what else runs.
  double server_us = 0;  ///< The same of the server.
};

/// Lets the contenders work in turns, each for a slice a round, so that what slows the machine for
/// a while slows all of them. Every second round goes backwards. One short slice each is not
/// counted.
std::vector<Measured> alternate(const std::vector<Step>& contenders, const Slices& slices);

}  // namespace duly::cli
