#include "src/redis/subscriber.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string_view>
#include <utility>

#include "src/redis/spawn.h"

namespace duly::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::steady_clock;

// After the first silence the server is asked, after the second it is left: a connection may be
// half open.
constexpr std::chrono::seconds kAskAfter{5};
constexpr std::chrono::seconds kLeaveAfter{10};

constexpr const char* kClosed = "connection closed";

// COMMAND INFO answers an array with nil for a command that it does not know.
bool knows_command(const Reply& info) {
  return info.is_error() || (info.items.size() == 1 && info.items[0].kind == Reply::Kind::array);
}

}  // namespace

// ---- Subscriptions, from any thread ----

class Subscriber::Handle final : public Subscription {
 public:
  Handle(std::weak_ptr<Subscriber> owner, std::string channel, std::shared_ptr<Listener> listener)
      : owner_(std::move(owner)), channel_(std::move(channel)), listener_(std::move(listener)) {}

  ~Handle() override {
    {
      const std::lock_guard lock(listener_->mutex);
      listener_->on_channel = {};
    }
    const auto owner = owner_.lock();
    if (!owner) return;
    owner->io_.post([weak = owner_, channel = channel_, listener = listener_] {
      if (const auto still = weak.lock()) still->remove(channel, listener);
    });
  }

 private:
  std::weak_ptr<Subscriber> owner_;
  std::string channel_;
  std::shared_ptr<Listener> listener_;
};

Subscriber::Subscriber(Io& io, LinkOptions options)
    : io_(io),
      context_(io.impl().context),
      options_(std::move(options)),
      pause_timer_(context_),
      writing_over_(context_, SteadyTime::max()),
      tick_(io.make_timer()),
      outage_(options_.log, options_.url.address() + " (subscriptions)") {}

std::unique_ptr<Subscription> Subscriber::subscribe(std::string channel, OnChannel on_channel) {
  auto listener = std::make_shared<Listener>();
  listener->on_channel = std::move(on_channel);
  io_.post([weak = weak_from_this(), channel, listener] {
    if (const auto self = weak.lock()) self->add(channel, listener);
  });
  return std::make_unique<Handle>(weak_from_this(), std::move(channel), std::move(listener));
}

namespace {

// The callback is a copy, as it may drop its own subscription. What it throws ends the process.
template <class Listener, class Member, class... Arguments>
void call(Listener& listener, Member member, Arguments... arguments) noexcept {
  const std::lock_guard lock(listener.mutex);
  if (const auto callback = listener.on_channel.*member) callback(arguments...);
}

}  // namespace

// ---- Channels ----

void Subscriber::add(const std::string& name, std::shared_ptr<Listener> listener) {
  if (is_closed_) return;
  std::shared_ptr<Channel>& channel = channels_[name];
  if (!channel) channel = std::make_shared<Channel>(name);
  channel->listeners.push_back(listener);
  if (channel->state == Channel::State::confirmed) return call(*listener, &OnChannel::subscribed);
  if (is_ready_) ask(channel);
  if (std::exchange(is_running_, true)) return;
  spawn(context_, [self = shared_from_this()] { return self->run(); });
}

void Subscriber::remove(const std::string& name, const std::shared_ptr<Listener>& listener) {
  const auto found = channels_.find(name);
  if (found == channels_.end()) return;
  const auto channel = found->second;
  std::erase(channel->listeners, listener);
  if (!channel->listeners.empty()) return;
  channels_.erase(found);
  if (!is_ready_ || channel->state == Channel::State::idle) return;
  asked_.push_back({Asked::What::unsubscribe, channel});
  command({channel->is_sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE", name});
}

void Subscriber::ask(const std::shared_ptr<Channel>& channel) {
  if (channel->state != Channel::State::idle) return;
  channel->state = Channel::State::asked;
  // What Redis itself tells of keys, it does not tell to sharded subscriptions.
  channel->is_sharded = is_sharded_ && !channel->name.starts_with("__key");
  asked_.push_back({Asked::What::subscribe, channel});
  command({channel->is_sharded ? "SSUBSCRIBE" : "SUBSCRIBE", channel->name});
}

void Subscriber::ask_all() {
  for (const auto& [name, channel] : channels_) ask(channel);
}

// ---- Connections, one after the other ----

asio::awaitable<void> Subscriber::run() {
  while (!is_closed_ && !channels_.empty()) {
    std::string trouble;
    opening_ = std::make_shared<Session>(context_, options_);
    try {
      co_await opening_->open();
    } catch (const SessionError& error) {
      trouble = error.what();
    }
    auto session = std::exchange(opening_, nullptr);
    if (is_closed_) break;
    if (trouble.empty()) {
      const SteadyTime since = steady_clock::now();
      co_await serve(std::move(session));
      retry_.lived(steady_clock::now() - since);
    } else {
      outage_.failed(trouble);
    }
    if (is_closed_) break;
    pause_timer_.expires_after(retry_.next());
    error_code ignored;
    co_await pause_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  is_running_ = false;
}

asio::awaitable<void> Subscriber::serve(std::shared_ptr<Session> session) {
  outage_.over();
  session_ = session;
  on_tick();
  std::string trouble;
  try {
    co_await read_messages(session);
  } catch (const SessionError& error) {
    trouble = error.what();
    session->close(error.trouble(), trouble);
  }
  session_.reset();
  is_ready_ = false;
  tick_->cancel();
  while (is_writing_) {
    error_code ignored;
    co_await writing_over_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  asked_.clear();
  unwritten_.clear();
  for (const auto& [name, channel] : channels_) channel->state = Channel::State::idle;
  if (!is_closed_) outage_.failed(trouble);
}

// Until the connection ends, which is thrown.
asio::awaitable<void> Subscriber::read_messages(std::shared_ptr<Session> session) {
  command({"COMMAND", "INFO", "ssubscribe"});
  const Reply info = co_await session->read();
  is_sharded_ = knows_command(info);
  is_ready_ = true;
  ask_all();
  while (true) {
    Reply reply = co_await session->read();
    do {
      on_reply(reply);
    } while (session->take_received(reply));
  }
}

void Subscriber::on_tick() {
  if (!session_) return;
  const SteadyTime now = steady_clock::now();
  const SteadyTime heard_at = session_->heard_at();
  if (now - heard_at >= kLeaveAfter) {
    return session_->close(Trouble::silent, "connection ended: silent for 10 s");
  }
  SteadyTime next = heard_at + kAskAfter;
  if (next <= now) {
    if (is_ready_ && pinged_at_ <= heard_at) {
      pinged_at_ = now;
      asked_.push_back({Asked::What::ping});
      command({"PING"});
    }
    next = heard_at + kLeaveAfter;
  }
  // Those that were refused: it may be allowed by now.
  if (is_ready_) ask_all();
  tick_->arm(next, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_tick();
  });
}

// ---- What comes ----

void Subscriber::on_reply(const Reply& reply) {
  if (reply.is_error()) return on_error(reply);
  const std::string_view kind = reply.items.empty() ? reply.text : reply.items[0].text;
  if (reply.items.size() == 3 && (kind == "smessage" || kind == "message")) {
    return on_message(reply.items[1].text, reply.items[2].text);
  }
  if (asked_.empty()) return;
  const Asked& front = asked_.front();
  const bool is_about_it =
      reply.items.size() == 3 && front.channel && reply.items[1].text == front.channel->name;
  const bool is_answer = front.what == Asked::What::ping ? kind == "pong" || kind == "PONG"
                         : front.what == Asked::What::subscribe
                             ? is_about_it && (kind == "ssubscribe" || kind == "subscribe")
                             : is_about_it && (kind == "sunsubscribe" || kind == "unsubscribe");
  if (!is_answer) return;
  const Asked answered = front;
  asked_.pop_front();
  if (answered.what != Asked::What::subscribe) return;
  answered.channel->state = Channel::State::confirmed;
  // A copy: callbacks may add and remove.
  const auto listeners = answered.channel->listeners;
  for (const auto& listener : listeners) call(*listener, &OnChannel::subscribed);
}

// Errors come in the order of the commands, as all replies do.
void Subscriber::on_error(const Reply& reply) {
  if (asked_.empty()) return;
  const Asked refused = asked_.front();
  asked_.pop_front();
  const std::string text = presentable(reply.text, options_.url);
  // It cannot say anything now: not that it does not know the command, nor that we may not use it.
  const Trouble trouble = trouble_of(reply);
  const Reaction reaction = row_of(trouble).reaction;
  if (reaction == Reaction::wait || reaction == Reaction::reconnect) {
    if (session_) session_->close(trouble, "connection left: " + text);
    return;
  }
  if (refused.what != Asked::What::subscribe) return;
  refused.channel->state = Channel::State::idle;
  if (!refused.channel->is_sharded) {
    outage_.failed("channel " + refused.channel->name + ": " + text);
  } else {
    // Not known, or not allowed: the older command instead.
    is_sharded_ = false;
    if (!refused.channel->listeners.empty()) ask(refused.channel);
  }
}

void Subscriber::on_message(const std::string& channel, const std::string& message) {
  const auto found = channels_.find(channel);
  if (found == channels_.end()) return;
  const auto listeners = found->second->listeners;
  for (const auto& listener : listeners)
    call(*listener, &OnChannel::message, std::string_view(message));
}

// ---- What leaves ----

void Subscriber::command(Command command) {
  unwritten_ += command.head();
  unwritten_ += command.body();
  if (std::exchange(is_writing_, true)) return;
  spawn(context_,
        [self = shared_from_this(), session = session_] { return self->write_all(session); });
}

asio::awaitable<void> Subscriber::write_all(std::shared_ptr<Session> session) {
  while (session == session_ && !unwritten_.empty()) {
    const std::string bytes = std::exchange(unwritten_, {});
    const std::vector<asio::const_buffer> all{asio::buffer(bytes)};
    const Stream::Sent sent = co_await session->write(all);
    // The reader sees the end of the session, and does the rest.
    if (sent.error) session->close(Trouble::closed, "connection ended: " + sent.error.message());
  }
  is_writing_ = false;
  writing_over_.cancel();
}

void Subscriber::close() {
  is_closed_ = true;
  pause_timer_.cancel();
  tick_->cancel();
  if (opening_) opening_->close(Trouble::closed, kClosed);
  if (session_) session_->close(Trouble::closed, kClosed);
}

}  // namespace duly::redis
