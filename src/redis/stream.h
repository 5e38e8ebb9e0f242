#pragma once

// For src/redis only: bytes to and from a server, whatever lies between.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "src/redis/standalone.h"

namespace duly::redis {

class Stream {
 public:
  virtual ~Stream() = default;

  /// How a write went. After an error `bytes` is the most that can have left.
  struct Sent {
    boost::system::error_code error{};
    std::size_t bytes = 0;
  };

  /// connect and read throw what stopped them; close() ends what is under way.
  virtual boost::asio::awaitable<void> connect() = 0;
  virtual boost::asio::awaitable<std::size_t> read(boost::asio::mutable_buffer into) = 0;
  virtual boost::asio::awaitable<Sent> write(
      const std::vector<boost::asio::const_buffer>& buffers) = 0;
  virtual void close() = 0;
};

/// TCP or a Unix socket, or TLS over TCP, as the URL says.
std::unique_ptr<Stream> make_stream(boost::asio::io_context& context, const LinkOptions& options);

/// TLS. It reads the files of the options, so that each connection has those that are there now.
///
/// Errors  invalid_argument: a file that cannot be read, or is not what it should be.
std::unique_ptr<Stream> make_tls_stream(boost::asio::io_context& context,
                                        const LinkOptions& options);

/// Throws what is wrong with the TLS files, before anything is opened.
void check_tls_files(const LinkOptions& options);

}  // namespace duly::redis
