#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "duly/types.h"
#include "src/redis/reply.h"

namespace duly {

/// Compares our clock with the times in Redis's replies, and warns once if they are far apart.
/// Nothing else depends on our clock. Safe from any thread.
class ClockWatch {
 public:
  explicit ClockWatch(std::function<void(const std::string&)> warn) : warn_(std::move(warn)) {}

  [[nodiscard]] static SystemTime now() {
    return std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  }
  /// `before`: our clock when the call was made.
  void look(SystemTime before, const redis::Reply& reply);

 private:
  std::function<void(const std::string&)> warn_;
  std::atomic<bool> has_warned_{false};
};

}  // namespace duly
