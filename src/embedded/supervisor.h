#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "duly/connection.h"
#include "duly/error.h"
#include "src/embedded/child.h"
#include "src/embedded/folder.h"

namespace duly::embedded {

using Log = std::function<void(LogLevel, const std::string&)>;

/// Sees to it that a Redis runs in one folder for as long as this object lives: runs it while it
/// holds the folder's lock, looks for the lock while another one holds it. One thread does all of
/// it, and calls `log`.
class Supervisor {
 public:
  /// Waits until the Redis answers.
  ///
  /// Errors  those of Folder, find_server and Child; unavailable: the Redis ended or does not
  /// answer.
  Supervisor(const Folder& folder, Log log);
  /// If it runs here: lets it save and end, for at most 10 s.
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  [[nodiscard]] bool is_owner() const { return is_owner_; }

 private:
  void run();
  bool survives(const Error& error);  ///< False at the first start: the constructor throws it.
  void look_after();
  std::optional<Fd> join();
  void own(const Fd& lock);
  bool await_ready(Child& child);
  void check_version(const Child& child) const;
  void stop(Child& child) const;
  void announce();
  bool pause(std::chrono::milliseconds time);  ///< False when this object ends.
  bool pause_before_next_try();
  void say(LogLevel level, const std::string& text) const;

  const Folder& folder_;
  const Log log_;
  std::atomic<bool> is_owner_ = false;
  std::chrono::milliseconds backoff_;  ///< Of the next start after one that failed.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_ready_ = false;  ///< Once true, always true: the constructor has returned.
  bool is_stopping_ = false;
  std::optional<Error> failure_;  ///< Of the first start.
  std::thread thread_;
};

}  // namespace duly::embedded
