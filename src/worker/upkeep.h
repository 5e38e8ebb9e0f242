#pragma once

#include <map>
#include <memory>
#include <random>
#include <vector>

#include "duly/worker.h"
#include "src/client/shared.h"
#include "src/core/dead_letters.h"

namespace duly {

/// Looks now and then whether all that is in Redis fits together, and mends what does not: the
/// workers of a queue together do it about once in half a minute. On the connection's thread only.
class Upkeep {
 public:
  Upkeep(std::shared_ptr<Connection::Shared> shared, std::vector<QueueName> queues);

  void start();

 private:
  void look_later(std::chrono::milliseconds least, std::chrono::milliseconds most);
  void look(const QueueName& queue);
  void look_at_dead_letters(const QueueName& queue);
  void repair(const QueueName& queue);

  std::shared_ptr<Connection::Shared> shared_;
  std::vector<QueueName> queues_;
  std::unique_ptr<redis::Io::Timer> timer_;
  std::unique_ptr<redis::Io::Timer> pause_;  // between two pieces of a repair
  bool is_repairing_ = false;
  std::map<QueueName, core::DeadLetterWatch> dead_letters_;
  std::minstd_rand random_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace duly
