#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "bench/floor.h"
#include "duly/client.h"
#include "duly/worker.h"
#include "src/cli/bench/slices.h"

namespace duly::cli {

inline constexpr std::size_t kBatch = 100;

/// On Redis's clock: it runs on this machine.
SystemTime now_ms();

/// A job of the bench: 100 bytes of payload, a type of 5 characters, due at once.
NewJob bench_job();

/// Puts that many jobs that are due from a day to a day and an hour from now, in no order.
void fill(Client& client, const QueueName& queue, std::size_t count);
void fill(bench::Floor& floor, std::size_t count);

/// put, claim and ack of that many jobs, one call after the other.
///
/// Errors  internal: not all came back, or not all were acked.
Step life(Client& client, QueueName queue, std::size_t jobs);
Step life(bench::Floor& floor, std::size_t jobs);

/// A worker that runs while this object lives.
class RunningWorker {
 public:
  RunningWorker(const Connection& connection, WorkerOptions options, Handler handler);
  ~RunningWorker();
  RunningWorker(const RunningWorker&) = delete;
  RunningWorker& operator=(const RunningWorker&) = delete;

  [[nodiscard]] WorkerStats stats() const { return worker_->stats(); }

 private:
  std::unique_ptr<Worker> worker_;
  std::future<void> run_;
};

/// Waits until the condition holds.
///
/// Errors  internal: not `within` that time; `what` names the condition.
void await(const std::string& what, const std::function<bool()>& condition,
           Milliseconds within = std::chrono::minutes{1});

}  // namespace duly::cli
