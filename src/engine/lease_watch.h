#pragma once

#include <memory>
#include <string>
#include <utility>

#include "src/engine/engine.h"
#include "src/engine/expiry_events.h"
#include "src/redis/topology.h"

namespace duly {

/// One waiting process on one queue: a subscription to its own channel, and, if the queue's engine
/// hands over by them, to expiry events.
class LeaseWatch final : public Watch {
 public:
  LeaseWatch(std::string channel, std::unique_ptr<redis::Subscription> subscription,
             std::shared_ptr<ExpiryEvents> events)
      : channel_(std::move(channel)),
        subscription_(std::move(subscription)),
        events_(std::move(events)) {}
  ~LeaseWatch() override { events_->stop(); }
  LeaseWatch(const LeaseWatch&) = delete;
  LeaseWatch& operator=(const LeaseWatch&) = delete;
  [[nodiscard]] const std::string& waiter() const override { return channel_; }

 private:
  std::string channel_;
  std::unique_ptr<redis::Subscription> subscription_;
  std::shared_ptr<ExpiryEvents> events_;
};

}  // namespace duly
