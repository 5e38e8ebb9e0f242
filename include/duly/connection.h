#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "duly/types.h"

namespace duly {

enum class LogLevel { debug, info, warning, error };

struct ConnectionOptions {
  /// redis://[user[:password]@]host[:port][/db], rediss://... for TLS,
  /// unix://[user:password@]/path[?db=n]. Empty: the environment's DULY_REDIS, else a private Redis
  /// that duly starts (see `data`).
  std::string redis{};
  /// Folder of the private Redis; empty means $XDG_STATE_HOME/duly or ~/.local/state/duly.
  std::filesystem::path data{};
  std::filesystem::path ca_file{};  ///< TLS: certificates to trust; empty for the system's.
  std::filesystem::path certificate_file{};  ///< TLS: our own certificate, and its key.
  std::filesystem::path key_file{};
  std::string client_name = "duly";  ///< As CLIENT LIST shows it.
  Milliseconds timeout{
      std::chrono::seconds{10}};  ///< Total time of one call: queueing, connecting, reading.
  /// Calls that may wait or be under way at once, and their bytes. Beyond it, a call ends
  /// `unavailable` at once; one that is larger by itself may go alone.
  std::size_t requests_in_flight = 10'000;
  std::size_t bytes_in_flight = 256UL * 1024 * 1024;
  std::size_t payload_limit = 1024UL * 1024;  ///< Bytes; at most Limits::payload_most.
  /// Where notices go; empty means nowhere. Never holds payloads or secrets.
  std::function<void(LogLevel, const std::string&)> log{};
};

/// A handle to one Redis: one thread, one shared connection, one for subscriptions. Copies share
/// it; Client, Admin and Worker are made from it. Opened lazily: making it does not wait for Redis.
///
/// Errors  invalid_argument: the URL or an option is wrong. unavailable: no redis-server to start.
class Connection {
 public:
  explicit Connection(ConnectionOptions options = {});
  explicit Connection(std::string redis)
      : Connection(ConnectionOptions{.redis = std::move(redis)}) {}

  /// Where this leads, without secrets: `redis://127.0.0.1:6379/0`.
  [[nodiscard]] std::string address() const;

  struct Shared;  ///< Inside duly only.
  [[nodiscard]] const std::shared_ptr<Shared>& shared() const noexcept { return shared_; }

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace duly
