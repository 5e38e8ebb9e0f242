#include "src/engine/queue_keys.h"

#include <array>

namespace duly {
namespace {

// Those behind `done` are kept for what is to come, so that the list need not change for it.
constexpr std::array<std::string_view, 15> kParts{
    "due",    "jobs", "leases",     "held",   "tries",  "dead",      "meta",  "idle",
    "keeper", "done", "priorities", "dedupe", "groups", "schedules", "events"};

}  // namespace

QueueKeys::QueueKeys(const QueueName& queue) {
  const std::string tag = "duly:{" + queue.text() + "}:";
  route = tag + "due";
  wake_prefix = tag + "wake:";
  for (const std::string_view part : kParts) all.add(tag + std::string(part));
}

}  // namespace duly
