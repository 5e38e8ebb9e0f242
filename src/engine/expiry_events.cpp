#include "src/engine/expiry_events.h"

#include <algorithm>
#include <utility>

namespace duly {
namespace {

using redis::Command;
using redis::Reply;

constexpr std::string_view kSetting = "notify-keyspace-events";
constexpr std::chrono::seconds kAskForEvents{5};
// More than that, and the sweep has to find them.
constexpr std::size_t kMostExpired = 100'000;

bool has_expiry_events(const std::string& flags) {
  const auto has = [&](char flag) { return flags.find(flag) != std::string::npos; };
  return has('E') && (has('x') || has('A'));
}

Error not_told(const std::string& finding) {
  return {ErrorCode::invalid_argument,
          std::string(kSetting) + ": " + finding +
              ", expected E and x for engine 'keyspace'; on the server: CONFIG SET " +
              std::string(kSetting) + " Ex"};
}

}  // namespace

bool ExpiryEvents::start(redis::Topology& topology, int database) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_started_, true)) return false;
  subscription_ = topology.subscribe("__keyevent@" + std::to_string(database) + "__:expired",
                                     {.message =
                                          [weak = weak_from_this()](std::string_view key) {
                                            if (const auto self = weak.lock())
                                              self->on_expired(key);
                                          },
                                      .subscribed =
                                          [weak = weak_from_this()] {
                                            if (const auto self = weak.lock()) self->on_wake_({});
                                          }});
  return true;
}

void ExpiryEvents::stop() {
  std::unique_ptr<redis::Subscription> ending;
  const std::lock_guard lock(mutex_);
  ending = std::move(subscription_);
}

void ExpiryEvents::on_expired(std::string_view key) {
  if (!key.starts_with(key_prefix_)) return;
  {
    const std::lock_guard lock(mutex_);
    if (ids_.size() < kMostExpired) ids_.emplace_back(key.substr(key_prefix_.size()));
  }
  on_wake_({});
}

bool ExpiryEvents::is_empty() {
  const std::lock_guard lock(mutex_);
  return ids_.empty();
}

std::vector<std::string> ExpiryEvents::take(std::size_t most) {
  const std::lock_guard lock(mutex_);
  const auto end = ids_.begin() + static_cast<std::ptrdiff_t>(std::min(most, ids_.size()));
  std::vector<std::string> first(std::make_move_iterator(ids_.begin()),
                                 std::make_move_iterator(end));
  ids_.erase(ids_.begin(), end);
  return first;
}

std::shared_ptr<ExpiryEvents> ExpiryListeners::make(const std::string& waiter,
                                                    const std::string& key_prefix,
                                                    ExpiryEvents::OnWake on_wake) {
  auto events = std::make_shared<ExpiryEvents>(key_prefix, std::move(on_wake));
  const std::lock_guard lock(mutex_);
  all_[waiter] = events;
  return events;
}

std::shared_ptr<ExpiryEvents> ExpiryListeners::of(const std::string& waiter) {
  if (waiter.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(waiter);
  return found == all_.end() ? nullptr : found->second.lock();
}

ClaimReply ExpiryListeners::listen(const QueueName& queue,
                                   const std::shared_ptr<ExpiryEvents>& events, bool was_sweep,
                                   ClaimReply reply) {
  if (was_sweep && !reply.jobs.empty() && warn_) {
    warn_("queue " + queue.text() + ": " + std::to_string(reply.jobs.size()) +
          " jobs whose expiry event was missed, found by the sweep");
  }
  if (!events->is_empty()) {  // More expired than there was room for.
    reply.is_parked = false;
    reply.next_in = std::chrono::microseconds{0};
  }
  if (!events->start(*topology_, database_)) return reply;
  need_expiry_events(library_, std::chrono::steady_clock::now() + kAskForEvents,
                     [queue, warn = warn_](const Result<Nothing>& checked) {
                       if (!checked.ok() && warn) {
                         warn("queue " + queue.text() + ": " + checked.error().what());
                       }
                     });
  return reply;
}

void need_expiry_events(const std::shared_ptr<Library>& library, redis::SteadyTime deadline,
                        Done<Nothing> done) {
  const auto on_set = [done](const Result<Reply>& result) {
    if (!result.ok()) return done(result.error());
    if (result.value().is_error()) return done(not_told(result.value().text));
    done(Nothing{});
  };
  library->plain(
      Command{"CONFIG", "GET", kSetting}, deadline,
      [weak = std::weak_ptr(library), deadline, done, on_set](const Result<Reply>& result) {
        const auto still = weak.lock();
        if (!still || !result.ok()) return done(still ? result.error() : not_told("unknown"));
        const Reply& reply = result.value();
        if (reply.is_error() || reply.items.size() != 2) {
          return done(not_told(reply.is_error() ? reply.text : "unknown to the server"));
        }
        const std::string& flags = reply.items[1].text;
        if (has_expiry_events(flags)) return done(Nothing{});
        still->plain(Command{"CONFIG", "SET", kSetting, flags + "Ex"}, deadline, on_set);
      });
}

}  // namespace duly
