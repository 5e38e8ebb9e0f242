#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "src/redis/command.h"
#include "src/redis/io.h"
#include "src/redis/reaction.h"
#include "src/redis/reply.h"

namespace duly::redis {

/// How a request ended: the three honest endings.
struct Ending {
  enum class Kind {
    done,      ///< Redis answered; the reply may be an error reply.
    not_done,  ///< It never left, and never will.
    unknown,   ///< It left, or part of it did, and no answer came.
  };
  Kind kind = Kind::done;
  Reply reply{};         ///< Of done.
  std::string reason{};  ///< Of the others: object and finding, as in "redis 127.0.0.1:6379:
                         ///< connection refused".
  Trouble trouble = Trouble::closed;  ///< Of the others.
};
using OnEnding = std::function<void(Ending)>;

/// A running subscription to one channel; ends when dropped (any thread).
class Subscription {
 public:
  virtual ~Subscription() = default;
};

struct OnChannel {
  std::function<void(std::string_view message)> message{};
  /// After the server confirmed the (re)subscription: messages before it may have been lost.
  std::function<void()> subscribed{};
};

/// Which connections there are and which of them a request takes: standalone now, Sentinel and
/// Cluster behind the same calls. Safe from any thread; callbacks run on the Io's thread.
class Topology {
 public:
  virtual ~Topology() = default;

  /// Sends one command to the server that owns `key`'s slot. Requests for one key leave in order.
  /// After `deadline` the request ends: not_done if it has not left, else unknown. On a broken
  /// connection requests that have left end as unknown; the others wait for the next connection.
  /// An error reply that calls for another connection (READONLY ...) ends its request as done, and
  /// what is sent after it leaves on that other connection.
  virtual void send(std::string_view key, Command command, SteadyTime deadline,
                    OnEnding on_ending) = 0;

  /// Subscribes to a channel on the server that owns the channel's slot (SSUBSCRIBE where the
  /// server has it, else SUBSCRIBE; always that for `__key...`, of Redis itself), again after each
  /// reconnect.
  virtual std::unique_ptr<Subscription> subscribe(std::string channel, OnChannel on_channel) = 0;

  /// Counts connections made since the start: what was true of the server (its library, say) must
  /// be checked again when it has changed. Any thread.
  [[nodiscard]] virtual std::uint64_t generation() const = 0;

  /// Where it leads, without secrets.
  [[nodiscard]] virtual std::string address() const = 0;
};

}  // namespace duly::redis
