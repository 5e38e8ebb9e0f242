#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "duly/duly.h"
#include "tests/support/eventually.h"
#include "tests/support/redis_server.h"

namespace duly::testing {

using SteadyClock = std::chrono::steady_clock;

/// How an attempt ended, as on_finished told it.
struct Ending {
  JobId id;
  std::uint32_t attempt = 0;
  LeaseOutcome outcome = LeaseOutcome::acked;
  std::string error{};
  std::chrono::nanoseconds lateness{};
  std::chrono::nanoseconds run_time{};
  SteadyClock::time_point told_at{};
};

/// A worker with a connection of its own that runs beside the test, at the longest until this ends.
class RunningWorker {
 public:
  RunningWorker(const std::string& url, WorkerOptions options, Handler handler,
                const std::string& type = "")
      : RunningWorker(Connection(url), std::move(options), std::move(handler), type) {}
  RunningWorker(Connection connection, WorkerOptions options, Handler handler,
                const std::string& type = "")
      : worker_(std::move(connection), told_here(std::move(options))) {
    worker_.handle(type, std::move(handler));
    thread_ = std::thread([this] { worker_.run(); });
  }
  ~RunningWorker() {
    worker_.stop_now();
    wait();
  }
  RunningWorker(const RunningWorker&) = delete;
  RunningWorker& operator=(const RunningWorker&) = delete;

  [[nodiscard]] Worker& worker() { return worker_; }

  /// Until run() returns; how long that took.
  std::chrono::milliseconds wait() {
    const auto begun_at = SteadyClock::now();
    if (thread_.joinable()) thread_.join();
    return std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - begun_at);
  }

  [[nodiscard]] std::vector<Ending> endings() const {
    const std::lock_guard lock(mutex_);
    return endings_;
  }

  /// Waits for so many endings.
  [[nodiscard]] bool ends(std::size_t count,
                          std::chrono::milliseconds within = std::chrono::seconds{5}) const {
    return eventually([&] { return endings().size() >= count; }, within);
  }

 private:
  WorkerOptions told_here(WorkerOptions options) {
    options.on_finished = [this](const WorkerOptions::Report& report) {
      const std::lock_guard lock(mutex_);
      endings_.push_back({.id = report.job.id,
                          .attempt = report.job.attempt,
                          .outcome = report.outcome,
                          .error = report.error,
                          .lateness = report.lateness,
                          .run_time = report.run_time,
                          .told_at = SteadyClock::now()});
    };
    return options;
  }

  mutable std::mutex mutex_;
  std::vector<Ending> endings_;
  Worker worker_;
  std::thread thread_;
};

/// A Redis of its own, and somebody who puts jobs into its queue "mail" and looks at them.
class WorkerTest : public ::testing::Test {
 protected:
  JobId put(NewJob job = {}, const QueueName& queue = "mail") {
    return client_.put(queue, std::move(job)).id;
  }

  void put_many(std::size_t count, const NewJob& job = {}) {
    const auto results = client_.put("mail", std::vector<NewJob>(count, job));
    ASSERT_THAT(results,
                ::testing::Each(::testing::Field(&PutResult::outcome, PutOutcome::created)));
  }

  /// What the queue knows of a job; of state `done` if it is gone.
  JobInfo look(const JobId& id) {
    return admin_.find("mail", id).value_or(JobInfo{.id = id, .state = JobState::done});
  }

  QueueStats stats(const QueueName& queue = "mail") { return admin_.stats(queue); }

  RedisServer redis_;
  Client client_{Connection(redis_.url())};
  Admin admin_{Connection(redis_.url())};
};

/// Waits until stop is asked; whether it was.
inline bool waits_for_stop(const Attempt& attempt,
                           std::chrono::milliseconds within = std::chrono::seconds{5}) {
  return eventually([&] { return attempt.stop_token().stop_requested(); }, within);
}

}  // namespace duly::testing
