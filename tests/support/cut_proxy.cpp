#include "tests/support/cut_proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace duly::testing {
namespace {

bool pass(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string take(int fd) {
  std::array<char, 64UL * 1024> bytes{};
  const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
  return got <= 0 ? std::string() : std::string(bytes.data(), static_cast<std::size_t>(got));
}

int connect_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

CutProxy::CutProxy(std::string socket_path) : socket_path_(std::move(socket_path)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0 || ::bind(listener_, raw, length) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, raw, &length) != 0) {
    throw std::runtime_error("proxy: no place to listen");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

CutProxy::~CutProxy() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  refuse(true);
  for (Pair& pair : pairs_) {
    pair.thread.join();
    ::close(pair.client);
    ::close(pair.server);
  }
}

void CutProxy::cut(Cut where, std::string word, int times) {
  const std::lock_guard lock(mutex_);
  where_ = where;
  word_ = std::move(word);
  times_ = times;
  every_ = 0;
}

void CutProxy::drop_every(int n, std::string word) {
  const std::lock_guard lock(mutex_);
  every_ = n;
  word_ = std::move(word);
  answers_ = 0;
  times_ = 0;
}

void CutProxy::swallow_all() {
  const std::lock_guard lock(mutex_);
  for (Pair& pair : pairs_) pair.is_swallowed = true;
}

void CutProxy::refuse(bool is_refusing) {
  is_refusing_ = is_refusing;
  if (!is_refusing) return;
  const std::lock_guard lock(mutex_);
  for (Pair& pair : pairs_) {
    ::shutdown(pair.client, SHUT_RDWR);
    ::shutdown(pair.server, SHUT_RDWR);
  }
}

void CutProxy::accept_all() {
  for (;;) {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    ++connections_;
    const int server = is_refusing_ ? -1 : connect_unix(socket_path_);
    if (server < 0) {
      ::close(client);
      continue;
    }
    const std::lock_guard lock(mutex_);
    Pair& pair = pairs_.emplace_back(client, server);
    pair.thread = std::thread([this, &pair] {
      serve(pair);
      ::shutdown(pair.client, SHUT_RDWR);
      ::shutdown(pair.server, SHUT_RDWR);
    });
  }
}

void CutProxy::serve(Pair& pair) {
  bool is_due = false;  // the next answer is one that counts
  for (;;) {
    std::array<pollfd, 2> both{pollfd{.fd = pair.client, .events = POLLIN, .revents = 0},
                               pollfd{.fd = pair.server, .events = POLLIN, .revents = 0}};
    if (::poll(both.data(), both.size(), -1) < 0) return;
    if (both[0].revents != 0) {
      const std::string bytes = take(pair.client);
      if (bytes.empty()) return;
      {
        const std::lock_guard lock(mutex_);
        is_due = is_due || (every_ > 0 && bytes.find(word_) != std::string::npos);
      }
      if (!pair.is_swallowed && !on_request(pair, bytes)) return;
    }
    if (both[1].revents != 0) {
      const std::string bytes = take(pair.server);
      if (bytes.empty()) return;
      if (!pair.is_swallowed && !on_answer(pair, bytes, is_due)) return;
    }
  }
}

bool CutProxy::takes_cut(const std::string& bytes, Cut& where) {
  const std::lock_guard lock(mutex_);
  if (times_ == 0 || bytes.find(word_) == std::string::npos) return false;
  --times_;
  ++cuts_;
  where = where_;
  return true;
}

// False: the connection is over.
bool CutProxy::on_request(Pair& pair, const std::string& bytes) {
  Cut where{};
  if (!takes_cut(bytes, where)) return pass(pair.server, bytes);
  if (where == Cut::before_forward) return false;
  if (where == Cut::swallow) {
    pair.is_swallowed = true;
    return true;
  }
  if (!pass(pair.server, bytes)) return false;
  const std::string answer = take(pair.server);
  if (where == Cut::mid_reply) pass(pair.client, answer.substr(0, answer.size() / 2));
  return false;
}

bool CutProxy::on_answer(Pair& pair, const std::string& bytes, bool& is_due) {
  if (std::exchange(is_due, false)) {
    const std::lock_guard lock(mutex_);
    if (every_ > 0 && ++answers_ % every_ == 0) {
      ++cuts_;
      return false;
    }
  }
  return pass(pair.client, bytes);
}

}  // namespace duly::testing
