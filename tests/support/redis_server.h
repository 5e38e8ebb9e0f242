#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace duly::testing {

struct RedisServerOptions {
  bool with_tcp = false;                 ///< Also on a free port of 127.0.0.1.
  std::vector<std::string> arguments{};  ///< More of redis-server's, as in {"--appendonly", "yes"}.
  std::string password{};                ///< Of the default user; cli() uses it.
  /// Of a server with TLS, on a free port of 127.0.0.1: certificate, its key, and the CA of
  /// clients.
  std::filesystem::path tls_certificate{};
  std::filesystem::path tls_key{};
  std::filesystem::path tls_ca{};
  bool tls_asks_clients = false;  ///< Clients must show a certificate of that CA.
};

/// A real redis-server of one test: on a Unix socket in a folder of its own, which answers when the
/// constructor returns. It ends with this object, or with the thread that started it. Without
/// "--appendonly yes" it forgets its data when it ends.
class RedisServer {
 public:
  explicit RedisServer(RedisServerOptions options = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::string socket_path() const { return (folder_ / "redis.sock").string(); }
  [[nodiscard]] std::string url() const { return "unix://" + socket_path(); }
  [[nodiscard]] std::uint16_t tcp_port() const { return tcp_port_; }
  [[nodiscard]] std::string tcp_url() const;
  [[nodiscard]] std::uint16_t tls_port() const { return tls_port_; }
  [[nodiscard]] std::string tls_url() const;
  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Sends a signal and waits for nothing.
  void kill(int signal) const;
  /// Ends the server as `signal` (SIGTERM, SIGKILL) ends it; it may be started again.
  void stop(int signal);
  /// Starts it again at the same places, and waits until it answers.
  void start();
  void restart() {
    stop(SIGTERM);
    start();
  }

  /// Runs one command: its reply as text, with "nil" for nothing, a blank between the items of an
  /// array; "gone" if there is no server or it goes away.
  template <class... Words>
  [[nodiscard]] std::string cli(const Words&... words) const {
    return ask({std::string(words)...});
  }
  [[nodiscard]] std::string ask(const std::vector<std::string>& words) const;

 private:
  [[nodiscard]] std::vector<std::string> command_line() const;
  void launch();
  [[nodiscard]] bool answers();

  RedisServerOptions options_;
  std::filesystem::path folder_;
  std::uint16_t tcp_port_ = 0;
  std::uint16_t tls_port_ = 0;
  pid_t pid_ = -1;
};

/// A port of 127.0.0.1 that nobody listens on at this moment.
std::uint16_t free_port();

}  // namespace duly::testing
