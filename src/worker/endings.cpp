#include "src/worker/endings.h"

#include <algorithm>
#include <utility>

namespace duly {
namespace {

// A busy worker lets acks gather: a call for 100 jobs costs Redis a fifth of 100 calls.
constexpr std::size_t kFull = 100;
constexpr std::chrono::microseconds kGather{1000};
constexpr std::chrono::milliseconds kTryEndingAgain{200};

}  // namespace

// Ends of one kind in one queue.
struct Endings::Lane {
  Kind kind;
  QueueName queue;
  std::vector<Row> rows;
  bool is_sending = false;
  bool is_failing = false;  // and that has been said
  SteadyTime not_before{};  // after an error
};

Endings::Endings(std::shared_ptr<Connection::Shared> shared, Hooks hooks)
    : shared_(std::move(shared)), hooks_(std::move(hooks)), timer_(shared_->io.make_timer()) {}

Endings::~Endings() = default;

void Endings::ack(TaskPtr task) { add(Kind::ack, {std::move(task)}); }

void Endings::fail(TaskPtr task, Failure failure) {
  add(Kind::fail, {std::move(task), std::move(failure)});
}

void Endings::release(TaskPtr task) { add(Kind::release, {std::move(task)}); }

Endings::Lane& Endings::lane(Kind kind, const QueueName& queue) {
  auto& lane = lanes_[{kind, queue}];
  if (!lane) lane = std::make_unique<Lane>(Lane{.kind = kind, .queue = queue});
  return *lane;
}

void Endings::add(Kind kind, Row row) {
  // Its engine knows no leases: the job is gone from the queue, however its attempt ends.
  if (row.task->job.token.empty()) {
    const auto outcome = kind == Kind::ack    ? LeaseOutcome::acked
                         : kind == Kind::fail ? LeaseOutcome::dead
                                              : LeaseOutcome::lease_lost;
    return hooks_.on_confirmed(row.task, outcome, row.failure.error);
  }
  ++open_;
  lane(kind, row.task->job.queue).rows.push_back(std::move(row));
}

void Endings::flush() {
  const SteadyTime now = std::chrono::steady_clock::now();
  const bool is_busy = hooks_.is_busy();
  SteadyTime again = SteadyTime::max();
  for (auto& [key, lane] : lanes_) {
    if (lane->is_sending || lane->rows.empty()) continue;
    if (lane->not_before > now) {
      again = std::min(again, lane->not_before);
    } else if (is_busy && lane->rows.size() < kFull && lane->not_before == SteadyTime{}) {
      lane->not_before = now + kGather;
      again = std::min(again, lane->not_before);
    } else {
      send(*lane);
    }
  }
  if (again == SteadyTime::max() || is_waiting_) return;
  is_waiting_ = true;
  timer_->arm(again, [this] {
    is_waiting_ = false;
    flush();
  });
}

void Endings::send(Lane& lane) {
  const std::size_t count = std::min(lane.rows.size(), Limits::piece);
  std::vector<Row> rows(
      std::make_move_iterator(lane.rows.begin()),
      std::make_move_iterator(lane.rows.begin() + static_cast<std::ptrdiff_t>(count)));
  lane.rows.erase(lane.rows.begin(), lane.rows.begin() + static_cast<std::ptrdiff_t>(count));
  lane.is_sending = true;
  lane.not_before = {};

  std::vector<Held> held;
  std::vector<AckRow> acked;
  std::vector<FailRow> failed;
  for (const Row& row : rows) {
    Held one{row.task->job.id, row.task->job.token};
    if (lane.kind == Kind::fail) {
      failed.push_back({std::move(one), row.failure});
    } else if (lane.kind == Kind::ack) {
      acked.push_back({std::move(one), row.task->result});
    } else {
      held.push_back(std::move(one));
    }
  }
  const Deadline deadline = std::min(shared_->deadline(), deadline_);
  const Done<std::vector<LeaseOutcome>> done =
      [this, weak = std::weak_ptr(alive_), &lane,
       rows = std::make_shared<std::vector<Row>>(std::move(rows))](
          Result<std::vector<LeaseOutcome>> result) {
        if (!weak.expired()) on_outcomes(lane, std::move(*rows), std::move(result));
      };
  switch (lane.kind) {
    case Kind::ack:
      return shared_->engine->ack(lane.queue, std::move(acked), deadline, done);
    case Kind::release:
      return shared_->engine->release(lane.queue, std::move(held), deadline, done);
    case Kind::fail:
      return shared_->engine->fail(lane.queue, std::move(failed), deadline, done);
  }
}

void Endings::on_outcomes(Lane& lane, std::vector<Row> rows,
                          Result<std::vector<LeaseOutcome>> result) {
  const SteadyTime now = std::chrono::steady_clock::now();
  lane.is_sending = false;
  if (!result.ok()) {
    if (!std::exchange(lane.is_failing, true)) {
      shared_->log(LogLevel::warning,
                   "queue " + lane.queue.text() + ": " + std::to_string(rows.size()) +
                       " finished jobs not written yet: " + result.error().what());
    }
    if (now + kTryEndingAgain >= deadline_) return give_up(std::move(rows));
    // Again, whatever became of it: the second time changes nothing, or says lease_lost.
    lane.rows.insert(lane.rows.begin(), std::make_move_iterator(rows.begin()),
                     std::make_move_iterator(rows.end()));
    lane.not_before = now + kTryEndingAgain;
    return flush();
  }
  if (std::exchange(lane.is_failing, false)) {
    shared_->log(LogLevel::info,
                 "queue " + lane.queue.text() + ": finished jobs are written again");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    --open_;
    hooks_.on_confirmed(rows[i].task, result.value()[i], rows[i].failure.error);
  }
  flush();
}

void Endings::give_up(std::vector<Row> rows) {
  for (const Row& row : rows) {
    --open_;
    hooks_.on_confirmed(row.task, LeaseOutcome::lease_lost, row.failure.error);
  }
}

}  // namespace duly
