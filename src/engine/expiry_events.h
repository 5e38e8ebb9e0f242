#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/engine/engine.h"
#include "src/engine/library.h"
#include "src/redis/topology.h"

namespace duly {

/// The ids of jobs whose key has expired, as Redis told them to one waiter. Any thread.
class ExpiryEvents : public std::enable_shared_from_this<ExpiryEvents> {
 public:
  using OnWake = std::function<void(std::optional<std::chrono::microseconds> next_in)>;
  ExpiryEvents(std::string key_prefix, OnWake on_wake)
      : key_prefix_(std::move(key_prefix)), on_wake_(std::move(on_wake)) {}

  /// Listens from now on; false if it does already. What was told before is found by the sweep.
  bool start(redis::Topology& topology, int database);
  void stop();
  [[nodiscard]] bool is_empty();
  /// The first ids that have not been asked for yet.
  std::vector<std::string> take(std::size_t most);

 private:
  void on_expired(std::string_view key);

  std::string key_prefix_;
  OnWake on_wake_;
  std::mutex mutex_;
  std::vector<std::string> ids_;
  std::unique_ptr<redis::Subscription> subscription_;
  bool is_started_ = false;
};

/// Those who wait, by waiter, and what a reply of a queue of engine keyspace means to them.
class ExpiryListeners {
 public:
  using Warn = std::function<void(const std::string&)>;
  ExpiryListeners(std::shared_ptr<Library> library, std::shared_ptr<redis::Topology> topology,
                  int database, Warn warn)
      : library_(std::move(library)),
        topology_(std::move(topology)),
        database_(database),
        warn_(std::move(warn)) {}

  std::shared_ptr<ExpiryEvents> make(const std::string& waiter, const std::string& key_prefix,
                                     ExpiryEvents::OnWake on_wake);
  /// Null if nobody waits under that name.
  std::shared_ptr<ExpiryEvents> of(const std::string& waiter);
  /// The queue hands its jobs over by expiry events, as its reply has told: listens from now on.
  ClaimReply listen(const QueueName& queue, const std::shared_ptr<ExpiryEvents>& events,
                    bool was_sweep, ClaimReply reply);

 private:
  std::shared_ptr<Library> library_;
  std::shared_ptr<redis::Topology> topology_;
  int database_;
  Warn warn_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<ExpiryEvents>> all_;
};

/// Makes sure that Redis tells of expired keys: notify-keyspace-events has E and x, or A.
///
/// Errors  invalid_argument: it has not, and we may not set it; the text is the setting.
void need_expiry_events(const std::shared_ptr<Library>& library, redis::SteadyTime deadline,
                        Done<Nothing> done);

}  // namespace duly
