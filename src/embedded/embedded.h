#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "duly/connection.h"

namespace duly {

/// The private Redis of one data folder: this process owns it, or has joined the one that does;
/// when an owner goes, one of those who joined takes over. Ends with this object: an owner's Redis
/// saves and stops. DULY_REDIS_SERVER names another server than those on PATH: for tests and odd
/// installs.
class EmbeddedRedis {
 public:
  /// Waits until the Redis of `data` answers, started here or by another process: without end while
  /// it loads its data. `log` is called from a thread of this object.
  ///
  /// Errors  unavailable: no redis-server or valkey-server on PATH, it ended at once (its last log
  ///         lines are named), is older than 6.2 or does not answer; invalid_argument: the folder
  ///         cannot be made or written.
  EmbeddedRedis(const std::filesystem::path& data,
                std::function<void(LogLevel, const std::string&)> log);
  ~EmbeddedRedis();

  /// unix:///... of its socket.
  [[nodiscard]] const std::string& url() const;
  [[nodiscard]] bool is_owner() const;

  /// $XDG_STATE_HOME/duly, or ~/.local/state/duly.
  static std::filesystem::path default_folder();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace duly
