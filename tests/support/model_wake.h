#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/manual_clock.h"

namespace duly::testing {

/// Who waits on one queue of the model: one keeper, the others idle. The rules of src/lua/wake.lua,
/// but that nobody is forgotten for having been silent.
class ModelWake {
 public:
  struct Message {
    std::string waiter;
    std::chrono::microseconds in;
  };

  void listen(const std::string& waiter) { listeners_.insert(waiter); }
  void stop_listening(const std::string& waiter) { listeners_.erase(waiter); }

  /// What was said since the last call.
  std::vector<Message> take_messages() { return std::exchange(messages_, {}); }

  /// After jobs came in; `head` was the first due time before, `earliest` is that of the new ones.
  void after_put(std::optional<SystemTime> head, SystemTime earliest, Microtime now) {
    const auto in = std::max(std::chrono::microseconds{0}, earliest - now);
    if (head && is_overdue(*head, now)) {
      hand_over(std::chrono::microseconds{0});
    } else if (!head || earliest < *head) {
      tell_keeper(in);
    }
  }

  void tell_keeper(std::chrono::microseconds in) {
    if (keeper_.empty() || !tell(keeper_, in)) hand_over(in);
  }

  /// Whether the waiter is the keeper now.
  bool park(const std::string& waiter, bool was_overdue, Microtime now) {
    if (keeper_.empty() || keeper_ == waiter || was_overdue) {
      keeper_ = waiter;
      idle_.erase(waiter);
      return true;
    }
    idle_[waiter] = now;
    return false;
  }

  void leave(const std::string& waiter, bool was_overdue, std::chrono::microseconds in) {
    idle_.erase(waiter);
    const bool was_keeper = keeper_ == waiter;
    if (keeper_.empty() || was_keeper || was_overdue) {
      if (!hand_over(in) && was_keeper) keeper_.clear();
    }
  }

  static bool is_overdue(SystemTime due_at, Microtime now) {
    return due_at < std::chrono::floor<Milliseconds>(now) - Milliseconds{20};
  }

 private:
  bool tell(const std::string& waiter, std::chrono::microseconds in) {
    if (!listeners_.contains(waiter)) return false;
    messages_.push_back({waiter, in});
    return true;
  }

  // The one who looked last becomes the keeper, if it still listens.
  bool hand_over(std::chrono::microseconds in) {
    while (!idle_.empty()) {
      const auto last =
          std::max_element(idle_.begin(), idle_.end(), [](const auto& a, const auto& b) {
            return std::pair(a.second, a.first) < std::pair(b.second, b.first);
          });
      keeper_ = last->first;
      idle_.erase(last);
      if (tell(keeper_, in)) return true;
      keeper_.clear();
    }
    return false;
  }

  std::string keeper_;
  std::map<std::string, Microtime> idle_;
  std::set<std::string> listeners_;
  std::vector<Message> messages_;
};

}  // namespace duly::testing
