#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "duly/job.h"
#include "src/client/budget.h"
#include "src/core/result.h"
#include "src/engine/engine.h"

namespace duly {

/// Joins what many callers do one by one: rows that come while calls are under way leave together
/// as soon as one ends. A row counts in the connection's budget until it has ended; one for which
/// there is no room ends at once. Safe from any thread; callbacks come on the connection's thread,
/// or inside add().
template <class Row, class Outcome>
class Batcher : public std::enable_shared_from_this<Batcher<Row, Outcome>> {
 public:
  using Send = std::function<void(std::vector<Row>, Deadline, Done<std::vector<Outcome>>)>;

  /// `weigh` gives the bytes of a row, for the limit of one call.
  Batcher(std::shared_ptr<Budget> budget, Send send, std::function<std::size_t(const Row&)> weigh)
      : budget_(std::move(budget)), send_(std::move(send)), weigh_(std::move(weigh)) {}

  void add(Row row, Deadline deadline, Done<Outcome> done) {
    const std::size_t bytes = weigh_(row);
    if (const auto error = budget_->take(bytes)) return done(*error);
    std::unique_lock lock(mutex_);
    waiting_.push_back({std::move(row), deadline, {bytes, std::move(done)}});
    if (under_way_ < kMostUnderWay) start(lock);
  }

 private:
  // One call in Redis and the next one on its way to it.
  static constexpr std::size_t kMostUnderWay = 2;

  struct Caller {
    std::size_t bytes;
    Done<Outcome> done;
  };
  using Callers = std::vector<Caller>;
  struct Waiting {
    Row row;
    Deadline deadline;
    Caller caller;
  };

  // Sends what waits, as much as one call may hold; unlocks.
  void start(std::unique_lock<std::mutex>& lock) {
    std::vector<Row> rows;
    auto callers = std::make_shared<Callers>();
    Callers late;
    Deadline deadline = Deadline::max();
    std::size_t bytes = 0;
    const Deadline now = std::chrono::steady_clock::now();
    while (!waiting_.empty() && rows.size() < Limits::piece) {
      Waiting& next = waiting_.front();
      if (next.deadline <= now) {
        late.push_back(std::move(next.caller));
        waiting_.pop_front();
        continue;
      }
      if (!rows.empty() && bytes + next.caller.bytes > Limits::piece_bytes) break;
      bytes += next.caller.bytes;
      deadline = std::min(deadline, next.deadline);
      rows.push_back(std::move(next.row));
      callers->push_back(std::move(next.caller));
      waiting_.pop_front();
    }
    if (!rows.empty()) ++under_way_;
    lock.unlock();
    if (!rows.empty()) {
      send_(std::move(rows), deadline,
            [self = this->shared_from_this(), callers](Result<std::vector<Outcome>> result) {
              self->on_done(*callers, std::move(result));
            });
    }
    give_back(late);
    for (const Caller& caller : late) {
      caller.done(Error(ErrorCode::unavailable, "connection: timed out, not sent: it was busy"));
    }
  }

  void on_done(const Callers& callers, Result<std::vector<Outcome>> result) {
    {
      std::unique_lock lock(mutex_);
      --under_way_;
      if (!waiting_.empty()) start(lock);
    }
    give_back(callers);
    for (std::size_t i = 0; i < callers.size(); ++i) {
      if (result.ok()) {
        callers[i].done(result.value()[i]);
      } else {
        callers[i].done(result.error());
      }
    }
  }

  void give_back(const Callers& callers) {
    std::size_t bytes = 0;
    for (const Caller& caller : callers) bytes += caller.bytes;
    budget_->give_back(callers.size(), bytes);
  }

  std::shared_ptr<Budget> budget_;
  Send send_;
  std::function<std::size_t(const Row&)> weigh_;
  std::mutex mutex_;
  std::deque<Waiting> waiting_;
  std::size_t under_way_ = 0;
};

}  // namespace duly
