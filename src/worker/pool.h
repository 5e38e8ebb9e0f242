#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "src/worker/task.h"

namespace duly {

/// The threads that run handlers. They hold what they need by themselves, so that one that does not
/// come back can be abandoned.
class Pool {
 public:
  /// `run` runs one task on one of `threads` threads; it does not throw. If it answers false, its
  /// thread ends: another one has taken its place.
  Pool(std::size_t threads, std::function<bool(const TaskPtr&)> run);
  ~Pool();  ///< Tells the threads to end after their tasks; does not wait.
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Starts one more thread; false if the system has none for us.
  bool add_thread();
  void push(std::vector<TaskPtr> tasks);
  /// Takes back tasks that no thread has begun: all of them, or those claimed before a time.
  std::vector<TaskPtr> take_back(SteadyTime claimed_before = SteadyTime::max());
  [[nodiscard]] std::size_t waiting() const;

 private:
  struct State {
    std::function<bool(const TaskPtr&)> run;
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<TaskPtr> tasks;
    std::size_t sleeping = 0;
    bool is_ending = false;
  };
  static void work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace duly
