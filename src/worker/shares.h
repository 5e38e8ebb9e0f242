#pragma once

#include <cstddef>
#include <vector>

#include "duly/worker.h"

namespace duly {

/// Parts a worker's free slots among its queues. Arithmetic alone: no clock, no Redis.
///
/// Shape   queues go by their position in WorkerOptions::queues.
/// Source  weighted: stride scheduling (Waldspurger and Weihl, 1995). Each queue has a pass that
///         grows by 1 / weight with each job; the lowest pass comes next. A queue that had no jobs
///         for a while begins where the others are: it saves nothing up.
class Shares {
 public:
  enum class Demand {
    none,     ///< No job is known to be due.
    waiting,  ///< There may be due jobs.
    asked,    ///< A claim is under way, and jobs will be left after it: slots are kept for them.
  };

  Shares(const std::vector<WorkerQueue>& queues, QueueOrder order);

  /// How many jobs to claim for each queue, Limits::piece at the most; only for those `waiting`.
  const std::vector<std::size_t>& part(std::size_t room, const std::vector<Demand>& demand);

  /// So many jobs of a queue are asked for; then, how many of them came.
  void ask(std::size_t queue, std::size_t jobs);
  void answer(std::size_t queue, std::size_t asked, std::size_t came);
  /// A job of the queue holds its slot no longer.
  void free_slot(std::size_t queue) { --queues_[queue].held; }

 private:
  struct Queue {
    double stride = 1;         // 1 / weight
    std::size_t reserved = 0;  // slots
    std::size_t held = 0;      // slots of jobs that run, wait or are asked for
    double pass = 0;
    bool has_demand = false;
  };
  [[nodiscard]] bool is_before(std::size_t a, std::size_t b) const;

  QueueOrder order_;
  std::vector<Queue> queues_;
  std::vector<std::size_t> grants_;
  std::vector<std::size_t> held_back_;  // slots that are free and reserved, while parting
  double clock_ = 0;                    // the pass of the last queue that asked
};

}  // namespace duly
