#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "src/client/shared.h"
#include "src/worker/task.h"

namespace duly {

/// Handlers that go on although they were asked to stop and nothing that they say counts any more.
/// After some patience another thread takes the place of each, up to a bound; beyond that the
/// worker has lost slots, and says so. On the connection's thread only.
class HungHandlers {
 public:
  struct Hooks {
    /// Starts one more thread for handlers; false if that cannot be.
    std::function<bool()> add_thread;
    /// The task holds its slot no longer; its thread ends with it.
    std::function<void(const TaskPtr&)> on_replaced;
    /// How many hang has changed, or how many slots are lost by that.
    std::function<void(std::size_t hung, std::size_t lost)> on_change;
  };

  HungHandlers(std::shared_ptr<Connection::Shared> shared, std::size_t concurrency, Hooks hooks);
  ~HungHandlers();

  /// The task was asked to stop: it timed out, or its lease is lost.
  void watch(TaskPtr task);
  /// Its handler has come back.
  void ended(const Task& task);
  /// Looks and replaces no more.
  void stop();
  /// Handlers that go on in threads of their own.
  [[nodiscard]] std::size_t replaced() const noexcept { return replaced_; }

 private:
  struct Watched {
    TaskPtr task;
    SteadyTime asked_at;
  };

  void look();
  void settle();
  bool replace(const TaskPtr& task);
  void say(std::size_t lost);

  std::shared_ptr<Connection::Shared> shared_;
  std::size_t concurrency_;
  std::size_t most_replaced_;
  Hooks hooks_;
  std::unique_ptr<redis::Io::Timer> timer_;
  std::vector<Watched> watched_;  // not hung yet
  std::vector<TaskPtr> hung_;
  std::size_t replaced_ = 0;
  std::size_t spare_threads_ = 0;  // started for a handler that came back in that moment
  std::size_t lost_ = 0;           // slots, as said last
  bool is_stopped_ = false;
};

}  // namespace duly
