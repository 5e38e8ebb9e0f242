#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
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

/// Says once that a connection fails, for each reason, and once that it is back.
class Outage {
 public:
  Outage(std::function<void(LogLevel, const std::string&)> log, std::string name)
      : log_(std::move(log)), name_(std::move(name)) {}

  void failed(const std::string& why) {
    if (said_.size() >= kMostReasons || !said_.insert(why).second) return;
    if (log_) log_(LogLevel::warning, name_ + ": " + why);
  }
  void over() {
    if (said_.empty()) return;
    said_.clear();
    if (log_) log_(LogLevel::info, name_ + ": connected again");
  }

 private:
  static constexpr std::size_t kMostReasons = 16;
  std::function<void(LogLevel, const std::string&)> log_;
  std::string name_;
  std::set<std::string> said_;
};

}  // namespace duly::redis
