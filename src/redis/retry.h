#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "duly/connection.h"

namespace duly::redis {

/// The waits between attempts to connect: 10 ms, doubled up to 1 s, each shortened by up to a half
/// at random, so that many clients do not come back in the same moment.
class Retry {
 public:
  std::chrono::milliseconds next() {
    const auto most = wait_;
    wait_ = std::min(wait_ * 2, kMost);
    return std::chrono::milliseconds{
        std::uniform_int_distribution<std::int64_t>(most.count() / 2, most.count())(random_)};
  }
  /// To be called when a connection has ended: one that lived has earned a quick return.
  void lived(std::chrono::steady_clock::duration time) {
    if (time >= kMost) wait_ = kFirst;
  }

 private:
  static constexpr std::chrono::milliseconds kFirst{10};
  static constexpr std::chrono::milliseconds kMost{1000};
  std::chrono::milliseconds wait_ = kFirst;
  std::minstd_rand random_{static_cast<std::minstd_rand::result_type>(std::random_device{}())};
};

/// Says once that a connection fails, for each reason, and once that it is back. A reason that
/// keeps coming is said again only after a minute without it: a connection that comes and goes
/// fills no log.
class Outage {
 public:
  using Time = std::chrono::steady_clock::time_point;
  Outage(std::function<void(LogLevel, const std::string&)> log, std::string name)
      : log_(std::move(log)), name_(std::move(name)) {}

  void failed(const std::string& why, Time now = std::chrono::steady_clock::now()) {
    std::erase_if(seen_, [&](const auto& reason) { return now - reason.second >= kQuiet; });
    const auto known = seen_.find(why);
    if (known != seen_.end()) {
      known->second = now;
      return;
    }
    if (seen_.size() >= kMostReasons) return;
    seen_.emplace(why, now);
    is_said_ = true;
    if (log_) log_(LogLevel::warning, name_ + ": " + why);
  }
  void over(const std::string& how = "connected again") {
    if (!std::exchange(is_said_, false)) return;
    if (log_) log_(LogLevel::info, name_ + ": " + how);
  }

 private:
  static constexpr std::size_t kMostReasons = 16;
  static constexpr std::chrono::minutes kQuiet{1};
  std::function<void(LogLevel, const std::string&)> log_;
  std::string name_;
  std::map<std::string, Time> seen_;  // when each reason came last
  bool is_said_ = false;              // a failure, and not yet that it is over
};

}  // namespace duly::redis
