#include "src/engine/queue_keys.h"

#include <array>

namespace duly {
namespace {

// Those behind `ready` are kept for what is to come, so that the list need not change for it.
constexpr std::array<std::string_view, 15> kParts{
    "due",    "jobs", "leases", "held",   "tries",  "dead",      "meta",  "idle",
    "keeper", "done", "ready",  "dedupe", "groups", "schedules", "events"};

}  // namespace

QueueKeys::QueueKeys(const QueueName& queue) {
  const std::string tag = "duly:{" + queue.text() + "}:";
  route = tag + "due";
  wake_prefix = tag + "wake:";
  timer_prefix = tag + "timer:";
  for (const std::string_view part : kParts) all.add(tag + std::string(part));
}

}  // namespace duly
