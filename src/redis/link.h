#pragma once

// For src/redis only.
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "src/redis/io_context.h"
#include "src/redis/retry.h"
#include "src/redis/session.h"
#include "src/redis/topology.h"

namespace duly::redis {

// What a callback throws ends the process: nobody could tell which request it belongs to.
inline void call(const OnEnding& on_ending, Ending ending) noexcept {
  on_ending(std::move(ending));
}

/// The shared connection for commands. Requests made while a write is under way leave in the next
/// one; replies come in order. It connects when first used, and again, with backoff, whenever it
/// breaks.
class Link : public std::enable_shared_from_this<Link> {
 public:
  Link(Io& io, LinkOptions options);

  /// Any thread. The callback comes on the Io's thread; it must not throw.
  void send(Command command, SteadyTime deadline, OnEnding on_ending);
  /// Ends what is pending, and connects no more. On the Io's thread.
  void close();
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  struct Request {
    Command command{};
    SteadyTime deadline{};
    OnEnding on_ending{};  // empty: it has ended, and only the reply is still to be swallowed
    SteadyTime written_at{};
    std::size_t bytes = 0;
  };
  struct Batch;  // the requests of one write

  [[nodiscard]] std::string limit_reached(std::size_t bytes) const;
  void drain_inbox();

  boost::asio::awaitable<void> run();
  boost::asio::awaitable<void> serve(std::shared_ptr<Session> session);
  boost::asio::awaitable<SessionError> read_replies(std::shared_ptr<Session> session);
  void start_writing();
  boost::asio::awaitable<void> write_all(std::shared_ptr<Session> session);
  void fill(Batch& batch);
  void take_back(Batch& batch, std::size_t bytes_left);
  void watch_state(const Reply& reply);
  void leave(const Reply& error);
  void break_off(Trouble trouble, const std::string& why);

  void watch_deadline(SteadyTime deadline);
  void sweep();
  [[nodiscard]] bool is_dead(const Request& overdue, SteadyTime now, SteadyTime& look_at) const;
  void refuse_waiting(Trouble trouble, const std::string& why);
  void end_unsent(Request request, Trouble trouble, const std::string& why) noexcept;
  void end(Request& request, Ending ending) noexcept;

  Io& io_;
  boost::asio::io_context& context_;
  const LinkOptions options_;
  const std::string address_;
  std::atomic<std::uint64_t> generation_{0};
  // Of all that waits or still owes a reply:
  std::atomic<std::size_t> requests_{0};
  std::atomic<std::size_t> bytes_{0};

  std::mutex mutex_;  // of the inbox, and of what is added to the two counts
  std::vector<Request> inbox_;
  bool is_drain_posted_ = false;

  // On the Io's thread only:
  std::shared_ptr<Session> opening_;  // while connecting
  std::shared_ptr<Session> session_;  // while connected
  std::deque<Request> waiting_;
  std::deque<Request> written_;
  bool is_running_ = false;
  bool is_writing_ = false;
  bool is_closed_ = false;
  bool is_passing_ = false;  // the server is in a state that will pass (LOADING ...)
  bool is_leaving_ = false;  // nothing more leaves on this session: it ends with its last reply
  SteadyTime next_deadline_ = SteadyTime::max();
  SteadyTime swept_at_{};
  boost::asio::steady_timer deadline_timer_;
  boost::asio::steady_timer pause_timer_;
  boost::asio::steady_timer writing_over_;  // never due: it is cancelled when a writer ends
  Retry retry_;
  Outage outage_;
  Trouble trouble_ = Trouble::unreachable;
  std::string why_;  // there is no connection; empty while there is one, or nobody has tried
};

}  // namespace duly::redis
