#include "src/worker/shares.h"

#include <algorithm>
#include <numeric>

namespace duly {

Shares::Shares(const std::vector<WorkerQueue>& queues, QueueOrder order)
    : order_(order), held_back_(queues.size()) {
  for (const WorkerQueue& queue : queues) {
    queues_.push_back({.stride = 1.0 / queue.share.weight, .reserved = queue.share.reserved});
  }
}

const std::vector<std::size_t>& Shares::part(std::size_t room, const std::vector<Demand>& demand) {
  grants_.assign(queues_.size(), 0);
  if (queues_.size() == 1) {
    if (demand[0] == Demand::waiting) grants_[0] = std::min(room, Limits::piece);
    return grants_;
  }
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[i];
    held_back_[i] = queue.reserved - std::min(queue.reserved, queue.held);
    const bool has_demand = demand[i] != Demand::none;
    if (has_demand && !queue.has_demand) queue.pass = std::max(queue.pass, clock_);
    queue.has_demand = has_demand;
  }
  std::size_t all_held_back = std::accumulate(held_back_.begin(), held_back_.end(), std::size_t{0});
  for (; room > 0; --room) {
    std::size_t next = queues_.size();
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (demand[i] == Demand::none) continue;
      if (room <= all_held_back - held_back_[i]) continue;  // The rest is for others.
      if (next == queues_.size() || is_before(i, next)) next = i;
    }
    if (next == queues_.size()) break;
    ++grants_[next];
    if (held_back_[next] > 0) {
      --held_back_[next];
      --all_held_back;
    }
  }
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    // What is beyond a claim, or has one under way, is kept for its next claim.
    grants_[i] = demand[i] == Demand::waiting ? std::min(grants_[i], Limits::piece) : 0;
  }
  return grants_;
}

// Whether `a` gets the next slot rather than `b`.
bool Shares::is_before(std::size_t a, std::size_t b) const {
  if (order_ == QueueOrder::strict) return a < b;
  const auto next_pass = [this](std::size_t i) {
    return queues_[i].pass + static_cast<double>(grants_[i]) * queues_[i].stride;
  };
  return next_pass(a) < next_pass(b);
}

void Shares::ask(std::size_t queue, std::size_t jobs) {
  Queue& asking = queues_[queue];
  clock_ = std::max(clock_, asking.pass);
  asking.pass += static_cast<double>(jobs) * asking.stride;
  asking.held += jobs;
}

void Shares::answer(std::size_t queue, std::size_t asked, std::size_t came) {
  const std::size_t missing = asked - std::min(asked, came);
  queues_[queue].pass -= static_cast<double>(missing) * queues_[queue].stride;
  queues_[queue].held -= missing;
}

}  // namespace duly
