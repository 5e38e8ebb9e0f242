#pragma once

#include <atomic>
#include <memory>

#include "duly/connection.h"
#include "src/core/id.h"
#include "src/embedded/embedded.h"
#include "src/engine/engine.h"
#include "src/redis/io.h"
#include "src/redis/topology.h"

namespace duly {

/// What all copies of a Connection share: the one place where Redis, engine and ids come together.
struct Connection::Shared {
  explicit Shared(ConnectionOptions given);
  ~Shared();

  [[nodiscard]] Deadline deadline() const {
    return std::chrono::steady_clock::now() + options.timeout;
  }
  void log(LogLevel level, const std::string& text) const {
    if (options.log) options.log(level, text);
  }

  ConnectionOptions options;
  core::IdSource ids;
  std::unique_ptr<EmbeddedRedis> embedded;  ///< Null when a URL was given.
  redis::Io io;
  std::shared_ptr<redis::Topology> topology;
  std::shared_ptr<Engine> engine;
  std::atomic<bool> is_policy_asked{false};  ///< By warn_of_eviction().
};

}  // namespace duly
