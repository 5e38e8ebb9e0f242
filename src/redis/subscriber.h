#pragma once

// For src/redis only.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/redis/io_context.h"
#include "src/redis/retry.h"
#include "src/redis/session.h"
#include "src/redis/topology.h"

namespace duly::redis {

/// The connection for subscriptions: opened with the first channel, and again, with all channels,
/// whenever it breaks. A server that is silent for 5 s is asked, and left after 10 s.
class Subscriber : public std::enable_shared_from_this<Subscriber> {
 public:
  Subscriber(Io& io, LinkOptions options);

  /// Any thread. Dropping the subscription waits for a callback of it that is running, unless it is
  /// that callback that drops it; so it must not be dropped with a lock held that a callback takes.
  std::unique_ptr<Subscription> subscribe(std::string channel, OnChannel on_channel);
  /// On the Io's thread.
  void close();

 private:
  // One subscription. Its callbacks run with the mutex held, and are emptied when it is dropped.
  struct Listener {
    std::recursive_mutex mutex;
    OnChannel on_channel;
  };
  struct Channel {
    enum class State { idle, asked, confirmed };  // on the present connection
    explicit Channel(std::string given) : name(std::move(given)) {}
    std::string name;
    std::vector<std::shared_ptr<Listener>> listeners{};
    State state = State::idle;
    bool is_sharded = false;
  };
  // A command whose reply is to come. Of a ping, there is no channel.
  struct Asked {
    enum class What { subscribe, unsubscribe, ping } what;
    std::shared_ptr<Channel> channel{};
  };
  class Handle;

  void add(const std::string& name, std::shared_ptr<Listener> listener);
  void remove(const std::string& name, const std::shared_ptr<Listener>& listener);
  void ask(const std::shared_ptr<Channel>& channel);
  void ask_all();

  boost::asio::awaitable<void> run();
  boost::asio::awaitable<void> serve(std::shared_ptr<Session> session);
  boost::asio::awaitable<void> read_messages(std::shared_ptr<Session> session);
  void on_reply(const Reply& reply);
  void on_error(const Reply& reply);
  void on_message(const std::string& channel, const std::string& message);
  void on_tick();
  void command(Command command);
  boost::asio::awaitable<void> write_all(std::shared_ptr<Session> session);

  Io& io_;
  boost::asio::io_context& context_;
  const LinkOptions options_;

  // On the Io's thread only:
  std::map<std::string, std::shared_ptr<Channel>> channels_;
  std::shared_ptr<Session> opening_;  // while connecting
  std::shared_ptr<Session> session_;  // while connected
  std::deque<Asked> asked_;
  std::string unwritten_;
  bool is_running_ = false;
  bool is_writing_ = false;
  bool is_closed_ = false;
  bool is_ready_ = false;    // the server has said whether it knows SSUBSCRIBE, or will not say
  bool is_sharded_ = false;  // it does, as far as we know
  SteadyTime pinged_at_{};
  boost::asio::steady_timer pause_timer_;
  boost::asio::steady_timer writing_over_;  // never due: it is cancelled when a writer ends
  std::unique_ptr<Io::Timer> tick_;
  Retry retry_;
  Outage outage_;
};

}  // namespace duly::redis
