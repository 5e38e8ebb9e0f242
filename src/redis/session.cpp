#include "src/redis/session.h"

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>
#include <vector>

namespace duly::redis {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds kOpenLimit{5};

SessionError refusal(const Reply& reply) {
  const std::string_view word = reply.error_word();
  const bool is_passing = word == "LOADING" || word == "BUSY" || word == "MASTERDOWN";
  return {is_passing ? SessionError::Kind::passing : SessionError::Kind::refused, reply.text};
}

}  // namespace

Session::Session(asio::io_context& context, const LinkOptions& options)
    : context_(context), options_(options), stream_(make_stream(context, options)) {}

asio::awaitable<void> Session::open() {
  enum class State { opening, late, over };
  const auto state = std::make_shared<State>(State::opening);
  asio::steady_timer limit(context_, kOpenLimit);
  limit.async_wait([this, state](boost::system::error_code error) {
    if (error || *state != State::opening) return;
    *state = State::late;
    stream_->close();
  });
  try {
    co_await stream_->connect();
    co_await handshake();
  } catch (const boost::system::system_error& error) {
    const bool is_late = std::exchange(*state, State::over) == State::late;
    throw SessionError(SessionError::Kind::passing,
                       is_late ? "no connection within 5 s" : error.code().message());
  } catch (const SessionError&) {
    if (std::exchange(*state, State::over) != State::late) throw;
    throw SessionError(SessionError::Kind::passing, "no connection within 5 s");
  }
  *state = State::over;
}

asio::awaitable<void> Session::handshake() {
  std::vector<Command> commands;
  const Url& url = options_.url;
  if (url.password) {
    commands.push_back(url.user.empty() ? Command{"AUTH", *url.password}
                                        : Command{"AUTH", url.user, *url.password});
  }
  if (url.database != 0) commands.push_back(Command{"SELECT", std::to_string(url.database)});
  const std::size_t required = commands.size();
  if (!options_.client_name.empty()) {
    commands.push_back(Command{"CLIENT", "SETNAME", options_.client_name});
  }
  if (commands.empty()) co_return;
  std::string bytes;
  for (const Command& command : commands) bytes += command.head() + command.body();
  const std::vector<asio::const_buffer> all{asio::buffer(bytes)};
  co_await stream_->write(all);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Reply reply = co_await read();
    // A name is nice to have: some users may not set it.
    if (reply.is_error() && i < required) throw refusal(reply);
  }
}

bool Session::take_received(Reply& reply) {
  switch (codec_.next(reply)) {
    case Codec::Next::reply:
      return true;
    case Codec::Next::need_more:
      return false;
    case Codec::Next::broken:
      break;
  }
  throw SessionError(SessionError::Kind::passing, "what came is no Redis reply");
}

asio::awaitable<Reply> Session::read() {
  Reply reply;
  while (!take_received(reply)) {
    std::size_t size = 0;
    try {
      size = co_await stream_->read(asio::buffer(buffer_));
    } catch (const boost::system::system_error& error) {
      throw SessionError(SessionError::Kind::passing, "connection ended: " + error.code().message());
    }
    codec_.feed({buffer_.data(), size});
  }
  co_return reply;
}

asio::awaitable<void> Session::write(const std::vector<asio::const_buffer>& buffers) {
  try {
    co_await stream_->write(buffers);
  } catch (const boost::system::system_error& error) {
    throw SessionError(SessionError::Kind::passing, "connection ended: " + error.code().message());
  }
}

}  // namespace duly::redis
