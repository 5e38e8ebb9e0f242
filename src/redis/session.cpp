#include "src/redis/session.h"

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

bool is_passing(const Reply& reply) {
  const std::string_view word = reply.error_word();
  return word == "LOADING" || word == "BUSY" || word == "MASTERDOWN" || word == "CLUSTERDOWN" ||
         reply.text.starts_with("ERR max number of clients");
}

// A name is nice to have: some users may not set it, and some names may not be set.
bool is_about_the_name(const Reply& reply) {
  const std::string_view word = reply.error_word();
  return word == "NOPERM" || (word == "ERR" && !is_passing(reply));
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
    if (!error && still) (*still)->close(kTooLate);
  });
  try {
    stream_ = make_stream(context_, options_);
    co_await stream_->connect();
    if (!closed_because_.empty()) throw SessionError(SessionError::Kind::passing, closed_because_);
    heard_at_ = steady_clock::now();
    co_await handshake();
  } catch (const SessionError&) {
    throw;
  } catch (const boost::system::system_error& error) {
    throw SessionError(SessionError::Kind::passing,
                       closed_because_.empty() ? error.code().message() : closed_because_);
  } catch (const std::exception& error) {
    throw SessionError(SessionError::Kind::passing,
                       closed_because_.empty() ? error.what() : closed_because_);
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
  const Stream::Sent sent = co_await write(all);
  if (sent.error) throw SessionError(SessionError::Kind::passing, ended(sent.error));
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Reply reply = co_await read();
    if (!reply.is_error() || (i >= required && is_about_the_name(reply))) continue;
    throw SessionError(
        is_passing(reply) ? SessionError::Kind::passing : SessionError::Kind::refused,
        presentable(reply.text, url));
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
  throw SessionError(SessionError::Kind::passing,
                     "connection ended: what came is no reply of Redis");
}

asio::awaitable<Reply> Session::read() {
  Reply reply;
  while (!take_received(reply)) {
    std::size_t size = 0;
    try {
      size = co_await stream_->read(asio::buffer(buffer_));
    } catch (const boost::system::system_error& error) {
      throw SessionError(SessionError::Kind::passing, ended(error.code()));
    }
    heard_at_ = steady_clock::now();
    codec_.feed({buffer_.data(), size});
  }
  co_return reply;
}

asio::awaitable<Stream::Sent> Session::write(const std::vector<asio::const_buffer>& buffers) {
  return stream_->write(buffers);
}

void Session::close(const std::string& why) {
  if (closed_because_.empty()) closed_because_ = why;
  if (stream_) stream_->close();
}

std::string Session::ended(const boost::system::error_code& error) const {
  return closed_because_.empty() ? "connection ended: " + error.message() : closed_because_;
}

}  // namespace duly::redis
