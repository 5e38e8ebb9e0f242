#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace duly::testing {

/// One connection to a FakeServer, as its script sees it.
class FakePeer {
 public:
  explicit FakePeer(int fd) : fd_(fd) {}
  ~FakePeer();
  FakePeer(const FakePeer&) = delete;
  FakePeer& operator=(const FakePeer&) = delete;

  /// The words of the next command; empty when the other side has closed.
  std::vector<std::string> read_command();
  /// Takes in whatever comes next, for read_command(); false when the other side has closed.
  bool receive();
  void write(std::string_view bytes) const;
  /// One byte at a time; false when the other side has closed or sent something meanwhile.
  bool write_slowly(std::string_view bytes, std::chrono::milliseconds pause) const;
  /// Stays silent until the other side closes; true if it sent nothing more meanwhile.
  bool wait_until_closed();
  /// From another thread: ends what the script waits for.
  void cut() const;

 private:
  [[nodiscard]] std::string take_line();

  int fd_;
  std::string unread_;
};

/// A server on a free port of 127.0.0.1 that answers as the test says: `script` runs for each
/// connection, in a thread of its own, with its number (0, 1, ...); the connection closes when it
/// returns.
class FakeServer {
 public:
  using Script = std::function<void(FakePeer&, int number)>;
  explicit FakeServer(Script script);
  /// On a Unix socket, whose buffers are small and stay so.
  FakeServer(Script script, const std::string& socket_path);
  ~FakeServer();  ///< Cuts every connection and waits for the scripts.
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void listen_at(const sockaddr* address, socklen_t length);
  void accept_all();

  Script script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::string url_;
  std::atomic<int> connections_{0};
  std::list<FakePeer> peers_;
  std::vector<std::thread> scripts_;
  std::thread acceptor_;
};

}  // namespace duly::testing
