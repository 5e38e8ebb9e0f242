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

/// The connection for subscriptions: opened with the first channel, and again, with all channels, whenever it
/// breaks. A server that is silent is asked, and left when it does not answer.
class Subscriber : public std::enable_shared_from_this<Subscriber> {
 public:
  Subscriber(Io& io, LinkOptions options);

  /// Any thread. A callback that is running when the subscription is dropped ends first, unless it is the one
  /// that drops it.
  std::unique_ptr<Subscription> subscribe(std::string channel, OnChannel on_channel);
  /// On the Io's thread.
  void close();

 private:
  struct Channel {
    std::recursive_mutex mutex;
    OnChannel on_channel;  // emptied when the subscription is dropped
  };
  class Handle;

  void add(const std::string& channel, std::shared_ptr<Channel> entry);
  void remove(const std::string& channel, const std::shared_ptr<Channel>& entry);
  boost::asio::awaitable<void> run();
  boost::asio::awaitable<void> read_messages(std::shared_ptr<Session> session);
  void on_message(const Reply& reply);
  void on_tick();
  void command(Command command);
  boost::asio::awaitable<void> write_all(std::shared_ptr<Session> session);

  Io& io_;
  boost::asio::io_context& context_;
  const LinkOptions options_;

  // On the Io's thread only:
  std::multimap<std::string, std::shared_ptr<Channel>> channels_;
  std::shared_ptr<Session> session_;
  std::deque<Command> waiting_;
  bool is_running_ = false;
  bool is_writing_ = false;
  bool is_closed_ = false;
  bool is_sharded_ = true;  // until a server says that it does not know SSUBSCRIBE
  SteadyTime last_read_at_{};
  bool is_asked_ = false;  // a PING is under way
  boost::asio::steady_timer pause_timer_;
  std::unique_ptr<Io::Timer> tick_;
  Retry retry_;
  Outage outage_;
};

}  // namespace duly::redis
