#pragma once

#include <memory>
#include <string>
#include <utility>

#include "src/engine/engine.h"
#include "src/redis/topology.h"

namespace duly {

/// One waiting process on one queue: a subscription to its own channel.
class LeaseWatch final : public Watch {
 public:
  LeaseWatch(std::string channel, std::unique_ptr<redis::Subscription> subscription)
      : channel_(std::move(channel)), subscription_(std::move(subscription)) {}
  [[nodiscard]] const std::string& waiter() const override { return channel_; }

 private:
  std::string channel_;
  std::unique_ptr<redis::Subscription> subscription_;
};

}  // namespace duly
