#pragma once

#include <sys/types.h>
#include <filesystem>
#include <map>
#include <string>

#include "duly/connection.h"

namespace duly::cli {

/// A fresh redis-server without persistence at a free port of 127.0.0.1; ends with this object, and
/// with the thread that made it. Writes no file.
class BenchServer {
 public:
  /// Errors  unavailable: it does not start; its last lines are named.
  explicit BenchServer(const std::filesystem::path& server);
  ~BenchServer();
  BenchServer(const BenchServer&) = delete;
  BenchServer& operator=(const BenchServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string url() const;

  /// A connection of its own.
  [[nodiscard]] Connection connect() const;

  [[nodiscard]] double used_memory() const;  ///< Bytes, by its own count.

  /// Commands since the start, by who sent them.
  struct Commands {
    double sent = 0;    ///< By clients; ours that look into the server not counted.
    double nested = 0;  ///< By functions.
  };
  [[nodiscard]] Commands commands() const;

 private:
  void start(const std::filesystem::path& server);
  [[nodiscard]] bool is_running();
  [[nodiscard]] bool await_ready();
  [[nodiscard]] std::string last_words() const;
  void stop();

  int port_ = 0;
  pid_t pid_ = -1;
  int log_ = -1;  ///< A file in memory.
};

}  // namespace duly::cli
