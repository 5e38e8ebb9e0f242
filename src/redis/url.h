#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace duly::redis {

/// Where a Redis is and who we are there, from a URL.
struct Url {
  bool is_tls = false;
  std::string host{};  ///< Without brackets; empty for a Unix socket.
  std::uint16_t port = 6379;
  std::string socket_path{};  ///< Of a Unix socket.
  std::string user{};         ///< Percent-decoded; empty for the default user.
  std::optional<std::string> password{};
  std::uint32_t database = 0;  ///< 0 .. 15 unless the server has more; the server decides.

  /// Without secrets: "redis://127.0.0.1:6379/0", "unix:///run/redis.sock".
  [[nodiscard]] std::string address() const;
};

/// Shape   redis://[user[:password]@]host[:port][/db], rediss://...,
/// unix://[user[:password]@]/path[?db=n] Errors  invalid_argument, naming the part and never the
/// password. Source  RFC 3986; the last @ before the path separates, + is no blank, an IPv6 address
/// has brackets.
Url parse_url(std::string_view text);

}  // namespace duly::redis
