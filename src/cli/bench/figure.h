#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/bench/slices.h"
#include "src/cli/output.h"

namespace duly::cli {

/// One figure, measured.
struct Row {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> floor{};  ///< The same work by raw commands, in the same unit.
  std::optional<double> ratio{};  ///< Ours over the floor's, by pairs of slices.
  std::string target{};           ///< Empty: none.
  std::optional<bool> is_met{};   ///< All of the target.
  Json more = Json::object();     ///< What else was seen, by name.

  /// Adds to the target: `what`, which was measured as `is`, should be so much or more, or less.
  void at_least(std::string_view what, double is, double limit);
  void at_most(std::string_view what, double is, double limit);
};

/// The first of the measured beside the second, the floor.
Row beside_floor(std::string name, const std::vector<Measured>& measured);

/// "163,204", "41.3", "0.27".
std::string number_text(double value);

/// What the figures of a group get.
struct Bench {
  bool is_quick = false;
  std::filesystem::path server;                        ///< redis-server.
  std::function<bool(std::string_view name)> wants{};  ///< Whether a figure was asked for.
  std::function<void(Row)> report{};
  std::function<void(const std::string&)> note{};  ///< Progress.

  [[nodiscard]] Slices slices(pid_t redis) const;
};

/// Figures that share a Redis of their own.
struct Group {
  std::vector<std::string_view> names;
  std::function<void(const Bench&)> measure;
};

/// All there are, in the order in which they are measured.
const std::vector<Group>& groups();

// The groups. Each measures those of its figures that are wanted.
void measure_lives(const Bench& bench);
void measure_waiting(const Bench& bench);
void measure_long_queue(const Bench& bench);
void measure_drain(const Bench& bench);
void measure_lateness(const Bench& bench);
void measure_recovery(const Bench& bench);
void measure_start(const Bench& bench);

}  // namespace duly::cli
