#pragma once

#include <functional>
#include <memory>

#include "src/engine/engine.h"

namespace duly {

struct CheckRunOptions {
  QueueName queue;
  CheckMode mode = CheckMode::look;
  std::function<Deadline()> deadline;  ///< Of the next piece.
  /// Goes on after a while; empty for at once.
  std::function<void(std::function<void()> go_on)> pause{};
};

/// Walks over all of a queue, piece by piece, each with its own deadline, and answers what was
/// found. An error ends it; what was mended by then stays mended.
void run_check(std::shared_ptr<Engine> engine, CheckRunOptions options, Done<CheckReport> done);

}  // namespace duly
