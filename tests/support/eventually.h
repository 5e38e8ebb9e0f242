#pragma once

#include <chrono>
#include <thread>

namespace duly::testing {

/// Waits until `condition` holds, for at most `within`; whether it did.
template <class F>
bool eventually(F condition, std::chrono::milliseconds within = std::chrono::seconds{5}) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return condition();
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

}  // namespace duly::testing
