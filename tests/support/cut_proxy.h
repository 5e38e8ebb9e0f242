#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace duly::testing {

/// Where a link is cut.
enum class Cut {
  before_forward,  ///< The request never reaches Redis; the connection closes.
  after_forward,   ///< Redis has answered, and nothing of that arrives; the connection closes.
  mid_reply,       ///< Half of the answer arrives; the connection closes.
  swallow,         ///< From now on nothing passes in either way, and nothing closes.
};

/// Stands between duly and a Redis on a Unix socket, on a port of 127.0.0.1, and cuts as the test
/// says.
class CutProxy {
 public:
  explicit CutProxy(std::string socket_path);
  ~CutProxy();
  CutProxy(const CutProxy&) = delete;
  CutProxy& operator=(const CutProxy&) = delete;

  [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

  /// Cuts at each of the next `times` requests that hold `word`.
  void cut(Cut where, std::string word, int times = 1);
  /// Drops every n-th answer to a request that holds `word`, with its connection; 0: none.
  void drop_every(int n, std::string word);
  /// All connections that stand now pass nothing any more, and do not close; later ones are clean.
  void swallow_all();
  /// Closes all connections, and each new one at once, until refuse(false).
  void refuse(bool is_refusing);

  [[nodiscard]] int cuts() const { return cuts_; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  struct Pair {
    int client;
    int server;
    std::atomic<bool> is_swallowed{false};
    std::thread thread{};
  };

  void accept_all();
  void serve(Pair& pair);
  bool on_request(Pair& pair, const std::string& bytes);
  bool on_answer(Pair& pair, const std::string& bytes, bool& is_due);
  [[nodiscard]] bool takes_cut(const std::string& bytes, Cut& where);

  std::string socket_path_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> cuts_{0};
  std::atomic<int> connections_{0};
  std::atomic<bool> is_refusing_{false};
  std::mutex mutex_;  // of all below
  Cut where_ = Cut::before_forward;
  std::string word_;
  int times_ = 0;
  int every_ = 0;
  int answers_ = 0;
  std::list<Pair> pairs_;
  std::thread acceptor_;
};

}  // namespace duly::testing
