#pragma once

#include <string>
#include <string_view>

#include "duly/types.h"
#include "src/redis/command.h"

namespace duly {

/// The keys of one shard, as every function takes them.
struct QueueKeys {
  explicit QueueKeys(const QueueName& queue);

  std::string route;         ///< One of the keys.
  std::string wake_prefix;   ///< Of the channels of waiting workers.
  std::string timer_prefix;  ///< Of the keys that expire, engine keyspace.
  redis::Command all;        ///< In the order of src/lua/queue.lua.
};

/// Set of all queue names, in a slot of its own.
inline constexpr std::string_view kQueuesKey = "duly:queues";

}  // namespace duly
