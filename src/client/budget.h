#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "src/core/result.h"

namespace duly {

/// What the calls of one connection may hold in memory while they wait to leave: how many, and how
/// many payload bytes. Safe from any thread.
class Budget {
 public:
  Budget(std::size_t calls, std::size_t bytes) : most_calls_(calls), most_bytes_(bytes) {}

  /// Counts a call in, or says which limit is reached. One that is larger by itself may go alone.
  std::optional<Error> take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (calls_ >= most_calls_) return refuse(calls_, "calls", most_calls_);
    if (calls_ > 0 && bytes_ + bytes > most_bytes_) {
      return refuse(bytes_, "payload bytes", most_bytes_);
    }
    ++calls_;
    bytes_ += bytes;
    return {};
  }

  void give_back(std::size_t calls, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    calls_ -= calls;
    bytes_ -= bytes;
  }

 private:
  static Error refuse(std::size_t now, const char* what, std::size_t most) {
    return {ErrorCode::unavailable, "connection: " + std::to_string(now) + " " + what +
                                        " in flight, limit " + std::to_string(most)};
  }

  const std::size_t most_calls_;
  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::size_t calls_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace duly
