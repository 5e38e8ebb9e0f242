#include "tests/support/fake_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace duly::testing {

FakePeer::~FakePeer() { ::close(fd_); }

bool FakePeer::receive() {
  std::array<char, 4096> bytes{};
  const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), 0);
  if (got <= 0) return false;
  unread_.append(bytes.data(), static_cast<std::size_t>(got));
  return true;
}

std::string FakePeer::take_line() {
  std::size_t end = unread_.find("\r\n");
  while (end == std::string::npos) {
    if (!receive()) return {};
    end = unread_.find("\r\n");
  }
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 2);
  return line;
}

std::vector<std::string> FakePeer::read_command() {
  const std::string head = take_line();
  if (head.empty()) return {};
  std::vector<std::string> words(std::stoul(head.substr(1)));
  for (std::string& word : words) {
    const std::string length = take_line();
    if (length.empty()) return {};
    const std::size_t size = std::stoul(length.substr(1));
    while (unread_.size() < size + 2) {
      if (!receive()) return {};
    }
    word = unread_.substr(0, size);
    unread_.erase(0, size + 2);
  }
  return words;
}

void FakePeer::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool FakePeer::write_slowly(std::string_view bytes, std::chrono::milliseconds pause) const {
  for (const char byte : bytes) {
    write({&byte, 1});
    pollfd waited{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&waited, 1, static_cast<int>(pause.count())) != 0) return false;
  }
  return true;
}

bool FakePeer::wait_until_closed() {
  const std::size_t before = unread_.size();
  while (receive()) {
  }
  return unread_.size() == before;
}

void FakePeer::cut() const { ::shutdown(fd_, SHUT_RDWR); }

FakeServer::FakeServer(Script script) : script_(std::move(script)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  listen_at(raw, length);
  if (::getsockname(listener_, raw, &length) != 0) throw std::runtime_error("fake server: no port");
  port_ = ntohs(address.sin_port);
  url_ = "redis://127.0.0.1:" + std::to_string(port_);
  acceptor_ = std::thread([this] { accept_all(); });
}

FakeServer::FakeServer(Script script, const std::string& socket_path)
    : script_(std::move(script)), url_("unix://" + socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof(address.sun_path))
    throw std::runtime_error("fake server: long path");
  socket_path.copy(address.sun_path, socket_path.size());
  listen_at(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  acceptor_ = std::thread([this] { accept_all(); });
}

void FakeServer::listen_at(const sockaddr* address, socklen_t length) {
  listener_ = ::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0 || ::bind(listener_, address, length) != 0 || ::listen(listener_, 16) != 0) {
    throw std::runtime_error("fake server: no place to listen");
  }
}

FakeServer::~FakeServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  for (const FakePeer& peer : peers_) peer.cut();
  for (std::thread& script : scripts_) script.join();
}

void FakeServer::accept_all() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    FakePeer& peer = peers_.emplace_back(fd);
    const int number = connections_++;
    scripts_.emplace_back([this, &peer, number] {
      script_(peer, number);
      peer.cut();
    });
  }
}

}  // namespace duly::testing
