#include "src/redis/stream.h"

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "src/redis/tcp.h"

namespace duly::redis {
namespace {

namespace asio = boost::asio;

// TCP and Unix sockets differ in how they connect only.
template <class Socket>
class PlainStream : public Stream {
 public:
  explicit PlainStream(asio::io_context& context) : socket_(context) {}

  asio::awaitable<std::size_t> read(asio::mutable_buffer into) override {
    co_return co_await socket_.async_read_some(into, asio::use_awaitable);
  }
  asio::awaitable<Sent> write(const std::vector<asio::const_buffer>& buffers) override {
    Sent sent;
    sent.bytes = co_await asio::async_write(socket_, buffers,
                                            asio::redirect_error(asio::use_awaitable, sent.error));
    co_return sent;
  }
  void close() override {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 protected:
  Socket& socket() { return socket_; }

 private:
  Socket socket_;
};

class TcpStream final : public PlainStream<asio::ip::tcp::socket> {
 public:
  TcpStream(asio::io_context& context, Url url) : PlainStream(context), url_(std::move(url)) {}
  asio::awaitable<void> connect() override { co_await connect_tcp(socket(), url_.host, url_.port); }

 private:
  Url url_;
};

class UnixStream final : public PlainStream<asio::local::stream_protocol::socket> {
 public:
  UnixStream(asio::io_context& context, std::string path)
      : PlainStream(context), path_(std::move(path)) {}
  asio::awaitable<void> connect() override {
    co_await socket().async_connect(asio::local::stream_protocol::endpoint(path_),
                                    asio::use_awaitable);
  }

 private:
  std::string path_;
};

}  // namespace

std::unique_ptr<Stream> make_stream(asio::io_context& context, const LinkOptions& options) {
  if (!options.url.socket_path.empty()) {
    return std::make_unique<UnixStream>(context, options.url.socket_path);
  }
  if (options.url.is_tls) return make_tls_stream(context, options);
  return std::make_unique<TcpStream>(context, options.url);
}

}  // namespace duly::redis
