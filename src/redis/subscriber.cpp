#include "src/redis/subscriber.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace duly::redis {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

// After so much silence the server is asked, and after as much again it is left.
constexpr std::chrono::seconds kSilence{5};

}  // namespace

class Subscriber::Handle final : public Subscription {
 public:
  Handle(std::weak_ptr<Subscriber> owner, std::string channel, std::shared_ptr<Channel> entry)
      : owner_(std::move(owner)), channel_(std::move(channel)), entry_(std::move(entry)) {}

  ~Handle() override {
    {
      const std::lock_guard lock(entry_->mutex);
      entry_->on_channel = {};
    }
    const auto owner = owner_.lock();
    if (!owner) return;
    owner->io_.post([weak = owner_, channel = channel_, entry = entry_] {
      if (const auto still = weak.lock()) still->remove(channel, entry);
    });
  }

 private:
  std::weak_ptr<Subscriber> owner_;
  std::string channel_;
  std::shared_ptr<Channel> entry_;
};

Subscriber::Subscriber(Io& io, LinkOptions options)
    : io_(io),
      context_(io.impl().context),
      options_(std::move(options)),
      pause_timer_(context_),
      tick_(io.make_timer()),
      outage_(options_.log, options_.url.address() + " (subscriptions)") {}

std::unique_ptr<Subscription> Subscriber::subscribe(std::string channel, OnChannel on_channel) {
  auto entry = std::make_shared<Channel>();
  entry->on_channel = std::move(on_channel);
  io_.post([weak = weak_from_this(), channel, entry] {
    if (const auto self = weak.lock()) self->add(channel, entry);
  });
  return std::make_unique<Handle>(weak_from_this(), std::move(channel), std::move(entry));
}

void Subscriber::add(const std::string& channel, std::shared_ptr<Channel> entry) {
  if (is_closed_) return;
  channels_.emplace(channel, std::move(entry));
  if (session_) {
    command({is_sharded_ ? "SSUBSCRIBE" : "SUBSCRIBE", channel});
  } else if (!std::exchange(is_running_, true)) {
    asio::co_spawn(context_, [self = shared_from_this()] { return self->run(); }, asio::detached);
  }
}

void Subscriber::remove(const std::string& channel, const std::shared_ptr<Channel>& entry) {
  const auto [first, last] = channels_.equal_range(channel);
  for (auto it = first; it != last; ++it) {
    if (it->second != entry) continue;
    channels_.erase(it);
    break;
  }
  if (session_ && !channels_.contains(channel)) {
    command({is_sharded_ ? "SUNSUBSCRIBE" : "UNSUBSCRIBE", channel});
  }
}

asio::awaitable<void> Subscriber::run() {
  while (!is_closed_ && !channels_.empty()) {
    auto session = std::make_shared<Session>(context_, options_);
    bool is_open = false;
    try {
      co_await session->open();
      is_open = true;
    } catch (const SessionError& error) {
      outage_.failed(error.what());
    }
    if (is_open && !is_closed_) {
      retry_.reset();
      outage_.over();
      session_ = session;
      last_read_at_ = steady_clock::now();
      is_asked_ = false;
      on_tick();
      waiting_.clear();
      for (auto it = channels_.begin(); it != channels_.end(); it = channels_.upper_bound(it->first)) {
        command({is_sharded_ ? "SSUBSCRIBE" : "SUBSCRIBE", it->first});
      }
      co_await read_messages(session);
      session_.reset();
      tick_->cancel();
    }
    if (is_closed_) break;
    pause_timer_.expires_after(retry_.next());
    boost::system::error_code ignored;
    co_await pause_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  is_running_ = false;
}

asio::awaitable<void> Subscriber::read_messages(std::shared_ptr<Session> session) {
  try {
    while (true) {
      Reply reply = co_await session->read();
      last_read_at_ = steady_clock::now();
      is_asked_ = false;
      do {
        on_message(reply);
      } while (session->take_received(reply));
    }
  } catch (const SessionError& error) {
    session->close();
    outage_.failed(error.what());
  }
}

void Subscriber::on_message(const Reply& reply) {
  if (reply.is_error()) {
    // No such command, or not allowed: the older one instead, for all channels.
    if (!std::exchange(is_sharded_, false)) return;
    for (auto it = channels_.begin(); it != channels_.end(); it = channels_.upper_bound(it->first)) {
      command({"SUBSCRIBE", it->first});
    }
    return;
  }
  if (reply.items.size() != 3) return;
  const std::string& kind = reply.items[0].text;
  const bool is_message = kind == "smessage" || kind == "message";
  if (!is_message && kind != "ssubscribe" && kind != "subscribe") return;
  // A copy: callbacks may add and remove channels.
  std::vector<std::shared_ptr<Channel>> entries;
  const auto [first, last] = channels_.equal_range(reply.items[1].text);
  for (auto it = first; it != last; ++it) entries.push_back(it->second);
  for (const auto& entry : entries) {
    const std::lock_guard lock(entry->mutex);
    if (is_message && entry->on_channel.message) {
      const auto callback = entry->on_channel.message;
      callback(reply.items[2].text);
    } else if (!is_message && entry->on_channel.subscribed) {
      const auto callback = entry->on_channel.subscribed;
      callback();
    }
  }
}

void Subscriber::on_tick() {
  const SteadyTime now = steady_clock::now();
  if (session_ && now - last_read_at_ >= kSilence) {
    if (is_asked_) return session_->close();
    is_asked_ = true;
    last_read_at_ = now;
    command({"PING"});
  }
  tick_->arm(now + kSilence, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_tick();
  });
}

void Subscriber::command(Command command) {
  waiting_.push_back(std::move(command));
  if (std::exchange(is_writing_, true)) return;
  asio::co_spawn(
      context_, [self = shared_from_this(), session = session_] { return self->write_all(session); },
      asio::detached);
}

asio::awaitable<void> Subscriber::write_all(std::shared_ptr<Session> session) {
  while (session == session_ && !waiting_.empty()) {
    const Command next = std::move(waiting_.front());
    waiting_.pop_front();
    const std::string bytes = next.head() + next.body();
    const std::vector<asio::const_buffer> all{asio::buffer(bytes)};
    try {
      co_await session->write(all);
    } catch (const SessionError&) {
      // The reader of the session sees the same end.
      session->close();
    }
  }
  is_writing_ = false;
  if (session_ && !waiting_.empty()) {
    is_writing_ = true;
    asio::co_spawn(
        context_, [self = shared_from_this(), current = session_] { return self->write_all(current); },
        asio::detached);
  }
}

void Subscriber::close() {
  is_closed_ = true;
  pause_timer_.cancel();
  tick_->cancel();
  if (session_) session_->close();
}

}  // namespace duly::redis
