#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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

/// Makes sure that Redis tells of expired keys: notify-keyspace-events has E and x, or A.
///
/// Errors  invalid_argument: it has not, and we may not set it; the text is the setting.
void need_expiry_events(const std::shared_ptr<Library>& library, redis::SteadyTime deadline,
                        Done<Nothing> done);

}  // namespace duly
