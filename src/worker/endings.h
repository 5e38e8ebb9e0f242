#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "src/client/shared.h"
#include "src/worker/task.h"

namespace duly {

/// Writes the ends of attempts to Redis: acks, fails and releases, in batches, one call of a kind
/// and queue at a time, again until Redis has answered. On the connection's thread only.
class Endings {
 public:
  struct Hooks {
    /// An end is confirmed. `error` is what was kept with the job.
    std::function<void(const TaskPtr&, LeaseOutcome, const std::string& error)> on_confirmed;
    /// True while more ends are sure to come soon: then acks may wait a moment, to leave together.
    std::function<bool()> is_busy;
  };

  Endings(std::shared_ptr<Connection::Shared> shared, Hooks hooks);
  ~Endings();

  void ack(TaskPtr task);
  void fail(TaskPtr task, Failure failure);
  void release(TaskPtr task);
  /// Sends what may leave now.
  void flush();
  /// Ends not confirmed yet.
  [[nodiscard]] std::size_t open() const noexcept { return open_; }
  /// From now on, what cannot be written by then is left to the lease.
  void set_deadline(SteadyTime deadline) { deadline_ = deadline; }

 private:
  enum class Kind { ack, fail, release };
  struct Row {
    TaskPtr task;
    Failure failure{};
  };
  struct Lane;

  Lane& lane(Kind kind, const QueueName& queue);
  void add(Kind kind, Row row);
  void send(Lane& lane);
  void on_outcomes(Lane& lane, std::vector<Row> rows, Result<std::vector<LeaseOutcome>> result);
  void give_up(std::vector<Row> rows);

  std::shared_ptr<Connection::Shared> shared_;
  Hooks hooks_;
  std::map<std::pair<Kind, QueueName>, std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<redis::Io::Timer> timer_;
  bool is_waiting_ = false;  // the timer is armed
  std::size_t open_ = 0;
  SteadyTime deadline_ = SteadyTime::max();
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace duly
