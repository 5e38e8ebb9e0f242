#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace duly {

/// How many jobs a worker may hold beyond its free slots: what it runs in a few milliseconds, so
/// that a fast handler never waits for Redis and a slow one keeps no due job from other workers.
class Prefetch {
 public:
  static constexpr std::chrono::milliseconds kAhead{5};
  static constexpr std::size_t kMost = 500;

  explicit Prefetch(std::chrono::steady_clock::time_point now) : since_(now) {}

  void finished(std::size_t jobs, std::chrono::steady_clock::time_point now) {
    jobs_ += jobs;
    const auto passed = now - since_;
    if (passed < kWindow) return;
    const double per_second =
        static_cast<double>(jobs_) / std::chrono::duration<double>(passed).count();
    const auto ahead =
        static_cast<std::size_t>(per_second * std::chrono::duration<double>(kAhead).count());
    size_ = std::min(kMost, ahead);
    jobs_ = 0;
    since_ = now;
  }

  [[nodiscard]] std::size_t size(std::chrono::steady_clock::time_point now) const {
    return now - since_ < kFresh ? size_ : 0;
  }

 private:
  static constexpr std::chrono::milliseconds kWindow{2};
  // For so long after the last finished jobs their rate means something: handlers may have turned
  // slow.
  static constexpr std::chrono::milliseconds kFresh{50};

  std::chrono::steady_clock::time_point since_;
  std::size_t jobs_ = 0;
  std::size_t size_ = 0;
};

}  // namespace duly
