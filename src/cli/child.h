#pragma once

#include <sys/types.h>
#include <chrono>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace duly::cli {

/// The commands that run now: so that none outlives duly.
class RunningChildren {
 public:
  void add(pid_t group);
  void remove(pid_t group);
  /// SIGKILL to all of them and all they started; also to those that are added later.
  void kill_all();

 private:
  std::mutex mutex_;
  std::set<pid_t> groups_;
  bool is_over_ = false;
};

/// One run of a command.
struct ChildRun {
  const std::string& command;  ///< For `sh -c`.
  const std::string& input;    ///< Its standard input; it need not read it.
  std::vector<std::pair<std::string, std::string>> environment;  ///< Beside our own.
  std::stop_token stop;  ///< Ends it and all it started: SIGTERM, then SIGKILL 2 s later.
};

struct ChildEnd {
  int exit_status = 0;       ///< If it ended by itself.
  int signal = 0;            ///< Else the signal that ended it.
  bool was_stopped = false;  ///< By us.
  std::string error_tail{};  ///< The last 4 KiB of its standard error.
};

/// Runs the command and waits for its end; its standard output is ours. Any thread.
///
/// Errors  internal: the system has no process or pipe left for it.
ChildEnd run_child(const ChildRun& run, RunningChildren& running);

}  // namespace duly::cli
