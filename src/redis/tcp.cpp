#include "src/redis/tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace duly::redis {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

void set(tcp::socket& socket, int option, int value) {
  // Without it the connection works all the same.
  static_cast<void>(
      ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof(value)));
}

}  // namespace

asio::awaitable<void> connect_tcp(tcp::socket& socket, const std::string& host,
                                  std::uint16_t port) {
  if (is_ip_address(host)) {
    co_await socket.async_connect({asio::ip::make_address(host), port}, asio::use_awaitable);
  } else {
    tcp::resolver resolver(socket.get_executor());
    const auto found =
        co_await resolver.async_resolve(host, std::to_string(port), asio::use_awaitable);
    co_await asio::async_connect(socket, found, asio::use_awaitable);
  }
  socket.set_option(tcp::no_delay(true));
  socket.set_option(asio::socket_base::keep_alive(true));
  // The first question after 15 s of silence, not after the two hours of the system, then three in
  // 15 s.
  set(socket, TCP_KEEPIDLE, 15);
  set(socket, TCP_KEEPINTVL, 5);
  set(socket, TCP_KEEPCNT, 3);
}

bool is_ip_address(const std::string& host) {
  boost::system::error_code error;
  asio::ip::make_address(host, error);
  return !error;
}

}  // namespace duly::redis
