#pragma once

// For src/redis only.
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string>

namespace duly::redis {

/// Resolves and connects, without delays for small writes, with keepalive.
inline boost::asio::awaitable<void> connect_tcp(boost::asio::ip::tcp::socket& socket, const std::string& host,
                                                std::uint16_t port) {
  namespace asio = boost::asio;
  asio::ip::tcp::resolver resolver(socket.get_executor());
  const auto found = co_await resolver.async_resolve(host, std::to_string(port), asio::use_awaitable);
  co_await asio::async_connect(socket, found, asio::use_awaitable);
  socket.set_option(asio::ip::tcp::no_delay(true));
  socket.set_option(asio::socket_base::keep_alive(true));
}

}  // namespace duly::redis
