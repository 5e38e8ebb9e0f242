#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/client/shared.h"
#include "src/worker/task.h"

namespace duly {

/// The jobs of one claim whose ends are not confirmed yet.
struct Lease {
  std::string key;
  QueueName queue;
  Milliseconds length{};
  SteadyTime renew_at;
  bool is_renewing = false;
  std::vector<TaskPtr> tasks;
  std::size_t open = 0;
};

/// Keeps the leases of running jobs, until each job's timeout and never beyond, and tells of jobs
/// whose timeout has passed, whose lease is lost or whose cancel was asked for. On the connection's
/// thread only.
class Leases {
 public:
  struct Hooks {
    std::function<void(const TaskPtr&)> on_timeout;
    std::function<void(const TaskPtr&)> on_lost;
    std::function<void(const TaskPtr&)> on_cancelled;
  };

  Leases(std::shared_ptr<Connection::Shared> shared, Hooks hooks);
  ~Leases();

  void add(const std::vector<TaskPtr>& tasks);
  /// The end of a task is written in Redis, or its lease is lost: nothing is kept of it.
  void confirm(Task& task);
  /// All whose end is not confirmed.
  [[nodiscard]] std::vector<TaskPtr> open_tasks() const;
  /// Looks at all of them now: a timeout was moved.
  void look();

 private:
  using LeasePtr = std::shared_ptr<Lease>;

  /// Renews and times out what is due in one lease; answers when to look again.
  SteadyTime look_at(const LeasePtr& lease, SteadyTime now);
  void renew(const LeasePtr& lease, const Task& task);
  void on_extended(const LeasePtr& lease, const JobId& asked_for, const ExtendResult& result);
  void arm(SteadyTime when);

  std::shared_ptr<Connection::Shared> shared_;
  Hooks hooks_;
  std::unordered_map<std::string, LeasePtr> leases_;  // by queue and token
  std::unique_ptr<redis::Io::Timer> timer_;
  SteadyTime armed_for_ = SteadyTime::max();
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace duly
