#pragma once

// For src/redis only: one live connection, from connecting to its end.
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "src/redis/codec.h"
#include "src/redis/command.h"
#include "src/redis/reaction.h"
#include "src/redis/stream.h"

namespace duly::redis {

/// Why there is no connection.
class SessionError : public std::runtime_error {
 public:
  SessionError(Trouble trouble, const std::string& text)
      : std::runtime_error(text), trouble_(trouble) {}
  [[nodiscard]] Trouble trouble() const noexcept { return trouble_; }
  /// Connecting again will not help: wrong password, no such database, no Redis at all.
  [[nodiscard]] bool is_final() const { return row_of(trouble_).reaction == Reaction::end; }

 private:
  Trouble trouble_;
};

/// Sends commands and reads replies in order. Reading and writing may go on at once, each by one
/// caller.
class Session {
 public:
  Session(boost::asio::io_context& context, const LinkOptions& options);

  /// Connects and says who we are, within 5 s. Throws SessionError.
  boost::asio::awaitable<void> open();
  /// The next reply. Throws SessionError when the connection ends, or what came is no reply.
  boost::asio::awaitable<Reply> read();
  /// The next reply if it has already been received.
  bool take_received(Reply& reply);
  boost::asio::awaitable<Stream::Sent> write(const std::vector<boost::asio::const_buffer>& buffers);
  /// Ends what is under way; it is what read() then throws.
  void close(Trouble trouble, const std::string& why);

  /// When anything at all came last.
  [[nodiscard]] SteadyTime heard_at() const noexcept { return heard_at_; }

 private:
  boost::asio::awaitable<void> handshake();
  [[nodiscard]] SessionError ended(const boost::system::error_code& error) const;

  boost::asio::io_context& context_;
  const LinkOptions& options_;
  std::unique_ptr<Stream> stream_;
  Trouble closed_by_ = Trouble::closed;
  std::string closed_because_;  // empty: we have not closed it
  SteadyTime heard_at_{};
  Codec codec_;
  std::array<char, 64UL * 1024> buffer_{};
};

/// An error reply as it may be shown: one short line, without what we have sent.
std::string presentable(const std::string& error_text, const Url& url);

}  // namespace duly::redis
