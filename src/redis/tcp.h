#pragma once

// For src/redis only.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

namespace duly::redis {

/// Resolves and connects: small writes leave at once, and a peer that has vanished is noticed
/// within 30 s.
boost::asio::awaitable<void> connect_tcp(boost::asio::ip::tcp::socket& socket,
                                         const std::string& host, std::uint16_t port);

/// Whether the host is an IPv4 or IPv6 address rather than a name.
bool is_ip_address(const std::string& host);

}  // namespace duly::redis
