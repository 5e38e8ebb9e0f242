#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "src/embedded/folder.h"

namespace duly::embedded {

/// The server to run: DULY_REDIS_SERVER if set (a path, or a name on PATH), else redis-server, else
/// valkey-server on PATH.
///
/// Errors  unavailable: there is none.
std::filesystem::path find_server();

/// One running server. Linux ends it when the thread that made it ends, so that thread must live as
/// long as the server should. It holds a copy of the lock: the folder stays locked until the server
/// has really ended, even if this process is killed first. Not safe to call from several threads.
class Child {
 public:
  /// Forks and runs `server` in `folder`.
  ///
  /// Errors  unavailable: no process or file can be made.
  Child(std::filesystem::path server, const Folder& folder, const Fd& lock);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::filesystem::path& server() const { return server_; }

  /// How it ended ("ended with status 1: ..." with its last log lines), or nothing while it runs.
  std::optional<std::string> ended();

  enum class Stop { stopped, killed };
  /// Asks it to save and end; kills it when it has not done so `within` that time. Returns once it
  /// is gone.
  Stop stop(std::chrono::milliseconds within);

 private:
  [[nodiscard]] bool is_gone();
  [[nodiscard]] std::string last_words() const;

  std::filesystem::path server_;
  std::filesystem::path log_file_;
  off_t log_begin_ = 0;  ///< Where this server's own lines begin, in bytes.
  pid_t pid_ = -1;
  std::string end_;  ///< Empty while it runs.
};

}  // namespace duly::embedded
