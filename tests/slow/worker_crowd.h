#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "tests/e2e/worker_fixture.h"
#include "tests/support/worker_process.h"

namespace duly::testing {

/// A few worker processes on one queue and one log, and what they have delivered.
class CrowdTest : public WorkerTest {
 protected:
  void start_workers(std::size_t count, WorkerProcessOptions options) {
    options.url = redis_.url();
    for (std::size_t i = 0; i < count; ++i) {
      workers_.push_back(std::make_unique<WorkerProcess>(options, log_));
    }
  }

  /// Ends one as `signal` does, and starts another in its place.
  ProgramEnd replace_worker(std::size_t index, int signal, WorkerProcessOptions options) {
    options.url = redis_.url();
    workers_.at(index)->signal(signal);
    const ProgramEnd end = workers_.at(index)->wait();
    workers_.at(index) = std::make_unique<WorkerProcess>(options, log_);
    return end;
  }

  void TearDown() override { EXPECT_EQ(admin_.check("mail").found, 0U); }

  /// Each distinct id, and how often it was delivered.
  [[nodiscard]] std::unordered_map<std::string, std::size_t> deliveries_by_id() const {
    std::unordered_map<std::string, std::size_t> all;
    for (const Delivery& one : log_->deliveries()) ++all[one.id];
    return all;
  }

  [[nodiscard]] bool all_acked(std::size_t count, std::chrono::milliseconds within) {
    return eventually([&] { return stats().totals.acked >= count; }, within);
  }

  std::shared_ptr<DeliveryLog> log_ = std::make_shared<DeliveryLog>();
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
};

}  // namespace duly::testing
