#pragma once

#include <sys/types.h>

#include <CLI/App.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "src/cli/context.h"
#include "src/cli/pipe.h"

namespace duly::cli::demo {

/// What a worker process tells of a job.
struct Line {
  bool is_end = false;  ///< Else: its handler starts.
  std::string worker;
  std::string id;
  std::uint32_t attempt = 1;
  std::string outcome{};  ///< Of an end.
  std::chrono::nanoseconds lateness{
      0};  ///< By Redis's clock: of the claim at a start, of the handler at an end.
};

/// A worker in a process of its own: `duly demo-worker`.
class WorkerProcess {
 public:
  /// `on_line` is called on a thread of this object.
  WorkerProcess(std::string name, const std::string& url, std::function<void(const Line&)> on_line);
  ~WorkerProcess();  ///< Ends it, however it stands.
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// SIGKILL: it gets no chance to say anything. What it had said has been told when this returns.
  void kill();
  /// SIGTERM; waits in the same way.
  void stop();

 private:
  void read(const std::function<void(const Line&)>& on_line);
  void end(int signal);

  std::string name_;
  Pipe pipe_;
  pid_t pid_ = -1;
  std::thread reader_;
};

/// Hidden: what runs in such a process.
void add_worker(CLI::App& app, Context& context);

}  // namespace duly::cli::demo
