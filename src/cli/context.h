#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <optional>
#include <string>

#include "duly/connection.h"

namespace duly::cli {

/// Exit status of an outcome that changed nothing: lease_lost, exists, not_found, wrong_state.
inline constexpr int kNothingChanged = 7;

/// What every command gets: the options that hold for all of them, and the way to Redis.
struct Context {
  ConnectionOptions connection{};
  std::optional<Milliseconds> timeout{};
  std::optional<std::string> log{};  ///< The form of log lines; read before all else.
  bool is_json = false;
  bool is_quiet = false;

  /// What the chosen command does; answers the exit status.
  std::function<int()> run{};
  /// The chosen command deals with SIGINT and SIGTERM itself: they stay blocked for it.
  bool takes_signals = false;

  /// Makes `work` what happens when `command` is chosen, and no command below it.
  void on(CLI::App* command, std::function<int()> work) {
    command->callback([this, command, work = std::move(work)] {
      if (command->get_subcommands().empty()) run = work;
    });
  }

  /// Opens the way to Redis. Says once, to a person, if that is the private one.
  [[nodiscard]] Connection connect() const;

  /// For a command that shows more of what the connection notices (`info`), such as `work`.
  [[nodiscard]] Connection connect(LogLevel least) const;
};

}  // namespace duly::cli
