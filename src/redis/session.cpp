#include "src/redis/session.h"

#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace duly::redis {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kOpenLimit{5};
constexpr const char* kTooLate = "no connection within 5 s";
constexpr std::size_t kMostErrorText = 200;

// A name is nice to have: some users may not set it, and some names may not be set.
bool is_about_the_name(const Reply& reply) {
  const std::string_view word = reply.error_word();
  return word == "NOPERM" || (word == "ERR" && reaction_to(reply) == Reaction::end);
}

// Why connecting came to nothing.
Trouble trouble_of(const boost::system::error_code& error) {
  if (error == asio::error::host_not_found || error == asio::error::host_not_found_try_again ||
      error == asio::error::no_data || error == asio::error::service_not_found) {
    return Trouble::no_such_name;
  }
  return error == asio::error::connection_refused ? Trouble::refused : Trouble::unreachable;
}

}  // namespace

std::string presentable(const std::string& error_text, const Url& url) {
  // Redis quotes the arguments of a command it does not know: here they are the password.
  std::string text = error_text.substr(0, error_text.find(", with args beginning"));
  if (url.password && url.password->size() >= 4) {
    for (std::size_t at = text.find(*url.password); at != std::string::npos;
         at = text.find(*url.password)) {
      text.replace(at, url.password->size(), "...");
    }
  }
  if (text.size() > kMostErrorText) text = text.substr(0, kMostErrorText) + "...";
  return text;
}

Session::Session(asio::io_context& context, const LinkOptions& options)
    : context_(context), options_(options) {}

asio::awaitable<void> Session::open() {
  asio::steady_timer limit(context_, kOpenLimit);
  // A timer that has fired may come after this, and after the session: it asks first.
  const auto opening = std::make_shared<Session*>(this);
  limit.async_wait([weak = std::weak_ptr(opening)](boost::system::error_code error) {
    const auto still = weak.lock();
    if (!error && still) (*still)->close(Trouble::unreachable, kTooLate);
  });
  try {
    stream_ = make_stream(context_, options_);
    co_await stream_->connect();
    if (!closed_because_.empty()) throw SessionError(closed_by_, closed_because_);
    heard_at_ = steady_clock::now();
    co_await handshake();
  } catch (const SessionError&) {
    throw;
  } catch (const boost::system::system_error& error) {
    if (!closed_because_.empty()) throw SessionError(closed_by_, closed_because_);
    throw SessionError(trouble_of(error.code()), error.code().message());
  } catch (const std::exception& error) {
    if (!closed_because_.empty()) throw SessionError(closed_by_, closed_because_);
    throw SessionError(Trouble::unreachable, error.what());
  }
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
  co_await write(all);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    // Also when the write broke off: a server that wants no more clients has said so before.
    const Reply reply = co_await read();
    if (!reply.is_error() || (i >= required && is_about_the_name(reply))) continue;
    throw SessionError(redis::trouble_of(reply), presentable(reply.text, url));
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
  throw SessionError(Trouble::not_redis, "connection ended: what came is no reply of Redis");
}

asio::awaitable<Reply> Session::read() {
  Reply reply;
  while (!take_received(reply)) {
    std::size_t size = 0;
    try {
      size = co_await stream_->read(asio::buffer(buffer_));
    } catch (const boost::system::system_error& error) {
      throw ended(error.code());
    }
    heard_at_ = steady_clock::now();
    codec_.feed({buffer_.data(), size});
  }
  co_return reply;
}

asio::awaitable<Stream::Sent> Session::write(const std::vector<asio::const_buffer>& buffers) {
  return stream_->write(buffers);
}

void Session::close(Trouble trouble, const std::string& why) {
  if (closed_because_.empty()) {
    closed_by_ = trouble;
    closed_because_ = why;
  }
  if (stream_) stream_->close();
}

SessionError Session::ended(const boost::system::error_code& error) const {
  if (!closed_because_.empty()) return {closed_by_, closed_because_};
  return {Trouble::closed, "connection ended: " + error.message()};
}

}  // namespace duly::redis
