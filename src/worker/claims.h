#pragma once

#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "duly/worker.h"
#include "src/client/shared.h"
#include "src/worker/shares.h"
#include "src/worker/task.h"

namespace duly {

/// Claims due jobs of several queues, as many as there is room for and each has a share in, and
/// sleeps in between until the next due time or a message. On the connection's thread only.
class Claims {
 public:
  struct Hooks {
    /// How many more jobs there is room for now.
    std::function<std::size_t()> room;
    /// After each claim, with what it took.
    std::function<void(std::vector<TaskPtr>)> on_tasks;
  };

  Claims(std::shared_ptr<Connection::Shared> shared, const WorkerOptions& options, Hooks hooks);
  ~Claims();

  void start();
  /// Claims where there may be jobs, now that there may be room.
  void pump();
  /// A job that was claimed here holds its slot no longer.
  void free_slot(const Task& task) { shares_.free_slot(task.queue); }
  /// No more claims; the watch of each queue goes to another worker.
  void stop();
  [[nodiscard]] bool is_under_way() const noexcept { return asked_calls_ > 0; }
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }

 private:
  struct Line;

  void claim(const std::shared_ptr<Line>& line, std::size_t most);
  void leave(const Line& line);
  void on_reply(const std::shared_ptr<Line>& line, std::size_t asked, SteadyTime sent_at,
                Result<ClaimReply> result);
  void look_later(const std::shared_ptr<Line>& line, SteadyTime when);
  [[nodiscard]] SteadyTime safety_look();
  [[nodiscard]] std::chrono::microseconds second_look(std::size_t idle);

  std::shared_ptr<Connection::Shared> shared_;
  Milliseconds lease_;
  Hooks hooks_;
  std::vector<std::shared_ptr<Line>> lines_;
  Shares shares_;
  std::vector<Shares::Demand> demand_;
  std::size_t asked_ = 0;        // jobs asked for by claims under way
  std::size_t asked_calls_ = 0;  // and how many claims those are
  std::uint64_t calls_ = 0;
  bool is_stopped_ = false;
  std::minstd_rand random_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace duly
