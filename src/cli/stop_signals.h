#pragma once

#include <functional>
#include <thread>

#include "duly/types.h"

namespace duly::cli {

// SIGINT and SIGTERM are blocked from the first line of the program on, in every thread: one that
// comes while a command still starts is kept, not lost and not deadly.

void block_stop_signals();
/// For commands that have nothing to end well: the signals have their usual effect again.
void unblock_stop_signals();

/// Waits for one of them; false when the time is over.
bool wait_for_stop(Milliseconds time);

/// Calls `work(number)` for the first, second ... of them, on its own thread, until destroyed.
class StopSignals {
 public:
  explicit StopSignals(std::function<void(int number)> work);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace duly::cli
