#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace duly::redis {

using SteadyTime = std::chrono::steady_clock::time_point;

/// The one thread that owns every connection of a process. What is posted runs there in order.
class Io {
 public:
  Io();
  ~Io();  ///< Stops; what is still posted does not run.
  Io(const Io&) = delete;
  Io& operator=(const Io&) = delete;

  /// Ends the thread. What hangs on the Io may then be destroyed from any thread.
  void stop();

  void post(std::function<void()> work);
  [[nodiscard]] bool on_this_thread() const noexcept;

  /// One-shot timer, monotonic, to microseconds. All members on the Io's thread only, the
  /// destructor included; re-arming or destroying it drops what was armed.
  class Timer {
   public:
    virtual ~Timer() = default;
    virtual void arm(SteadyTime when, std::function<void()> work) = 0;
    virtual void cancel() = 0;
  };
  [[nodiscard]] std::unique_ptr<Timer> make_timer();

  /// Calls `work(signal)` on the Io's thread for each arrival of one of the signals, instead of
  /// their usual effect, until the returned object is gone (any thread may drop it).
  [[nodiscard]] std::shared_ptr<void> on_signals(std::vector<int> signals,
                                                 std::function<void(int)> work);

  struct Impl;
  [[nodiscard]] Impl& impl() noexcept { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace duly::redis
