#include "src/embedded/probe.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>

#include "src/embedded/fd.h"

namespace duly::embedded {
namespace {

// A Redis that loads looks at its sockets between pieces of data: a shorter wait would miss it.
constexpr std::chrono::milliseconds kPatience{1000};

Fd connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.data(), path.size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return {};
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return {};
  return fd;
}

// The text between `start` and the end of its line, as soon as that has come; nothing on silence.
std::optional<std::string> ask(const std::string& socket, std::string_view command,
                               std::string_view start) {
  const Fd fd = connect_to(socket);
  if (!fd.is_open()) return std::nullopt;
  if (::send(fd.get(), command.data(), command.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(command.size())) {
    return std::nullopt;
  }
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  while (true) {
    const auto begin = text.find(start);
    const auto end = begin == std::string::npos ? begin : text.find("\r\n", begin);
    if (end != std::string::npos)
      return text.substr(begin + start.size(), end - begin - start.size());

    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd readable{fd.get(), POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(left.count())) < 0 && errno != EINTR)
      return std::nullopt;
    if (readable.revents == 0) continue;
    std::array<char, 4096> piece{};
    const ssize_t size = ::recv(fd.get(), piece.data(), piece.size(), 0);
    if (size <= 0) return std::nullopt;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

Answer ping(const std::string& socket) {
  const auto line = ask(socket, "PING\r\n", "");
  if (!line) return Answer::silent;
  if (*line == "+PONG") return Answer::ready;
  return line->starts_with("-LOADING") ? Answer::loading : Answer::silent;
}

std::optional<std::string> server_version(const std::string& socket) {
  return ask(socket, "INFO server\r\n", "redis_version:");
}

}  // namespace duly::embedded
