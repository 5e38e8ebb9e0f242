#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/redis/reply.h"

struct redisContext;

namespace duly::testing {

/// A plain blocking connection, for what a test does to Redis behind duly's back.
class RawRedis {
 public:
  /// Throws std::runtime_error when nobody listens.
  explicit RawRedis(const std::string& socket);

  /// Error replies are replies. Throws std::runtime_error when the connection breaks.
  redis::Reply command(const std::vector<std::string>& words);

 private:
  std::unique_ptr<redisContext, void (*)(redisContext*)> link_;
};

}  // namespace duly::testing
