#pragma once

#include <CLI/App.hpp>
#include <string>
#include <utility>
#include <vector>

#include "duly/worker.h"

namespace duly::cli {

/// The options by which a worker with several queues parts its slots among them.
class QueueShares {
 public:
  /// --weight QUEUE=N, --reserve QUEUE=N, each any number of times, and --strict.
  void add_to(CLI::App& command);

  /// Gives the queues their shares; throws invalid_argument for a queue that is not among them.
  [[nodiscard]] std::vector<WorkerQueue> of(const std::vector<QueueName>& queues) const;
  [[nodiscard]] QueueOrder order() const {
    return is_strict_ ? QueueOrder::strict : QueueOrder::weighted;
  }

 private:
  using Numbers = std::vector<std::pair<QueueName, std::uint32_t>>;

  Numbers weights_;
  Numbers reserved_;
  bool is_strict_ = false;
};

}  // namespace duly::cli
