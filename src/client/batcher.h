#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "duly/job.h"
#include "src/core/result.h"
#include "src/engine/engine.h"

namespace duly {

/// Joins what many callers do one by one: rows that come while calls are under way leave together
/// as soon as one ends. Safe from any thread; callbacks come on the connection's thread.
template <class Row, class Outcome>
class Batcher : public std::enable_shared_from_this<Batcher<Row, Outcome>> {
 public:
  using Send = std::function<void(std::vector<Row>, Deadline, Done<std::vector<Outcome>>)>;

  /// `weigh` gives the bytes of a row, for the limit of one call.
  Batcher(Send send, std::function<std::size_t(const Row&)> weigh)
      : send_(std::move(send)), weigh_(std::move(weigh)) {}

  void add(Row row, Deadline deadline, Done<Outcome> done) {
    std::unique_lock lock(mutex_);
    waiting_.push_back({std::move(row), deadline, std::move(done)});
    if (under_way_ < kMostUnderWay) start(lock);
  }

 private:
  // One call in Redis and the next one on its way to it.
  static constexpr std::size_t kMostUnderWay = 2;

  struct Waiting {
    Row row;
    Deadline deadline;
    Done<Outcome> done;
  };

  void start(std::unique_lock<std::mutex>& lock) {
    std::vector<Row> rows;
    auto callbacks = std::make_shared<std::vector<Done<Outcome>>>();
    Deadline deadline = Deadline::max();
    std::size_t bytes = 0;
    while (!waiting_.empty() && rows.size() < Limits::piece) {
      const std::size_t more = weigh_(waiting_.front().row);
      if (!rows.empty() && bytes + more > Limits::piece_bytes) break;
      bytes += more;
      Waiting& next = waiting_.front();
      deadline = std::min(deadline, next.deadline);
      rows.push_back(std::move(next.row));
      callbacks->push_back(std::move(next.done));
      waiting_.pop_front();
    }
    ++under_way_;
    lock.unlock();
    send_(std::move(rows), deadline,
          [self = this->shared_from_this(), callbacks](Result<std::vector<Outcome>> result) {
            self->on_done(*callbacks, std::move(result));
          });
  }

  void on_done(const std::vector<Done<Outcome>>& callbacks, Result<std::vector<Outcome>> result) {
    {
      std::unique_lock lock(mutex_);
      --under_way_;
      if (!waiting_.empty()) start(lock);
    }
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      if (result.ok()) {
        callbacks[i](result.value()[i]);
      } else {
        callbacks[i](result.error());
      }
    }
  }

  Send send_;
  std::function<std::size_t(const Row&)> weigh_;
  std::mutex mutex_;
  std::deque<Waiting> waiting_;
  std::size_t under_way_ = 0;
};

}  // namespace duly
