#include "src/client/put_many.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "src/core/check.h"

namespace duly {
namespace {

// Pieces under way at once: enough to keep Redis busy, few enough to keep a large batch out of
// memory.
constexpr std::size_t kWindow = 4;

// One batch on its way. Pieces finish in any order; each knows its places.
class Batch : public std::enable_shared_from_this<Batch> {
 public:
  Batch(std::shared_ptr<Engine> engine, QueueName queue, std::vector<NewJob> jobs,
        std::vector<PutResult> results, Deadline deadline, Done<std::vector<PutResult>> done)
      : engine_(std::move(engine)),
        queue_(std::move(queue)),
        jobs_(std::move(jobs)),
        results_(std::move(results)),
        deadline_(deadline),
        done_(std::move(done)) {}

  void run() {
    while (auto piece = next_piece()) send(*std::move(piece));
    std::unique_lock lock(mutex_);
    if (under_way_ == 0 && next_ >= jobs_.size() && done_) {
      const auto done = std::exchange(done_, nullptr);
      lock.unlock();
      done(std::move(results_));
    }
  }

 private:
  struct Piece {
    std::vector<std::size_t> places;
    std::vector<NewJob> jobs;
  };

  std::optional<Piece> next_piece() {
    const std::lock_guard lock(mutex_);
    if (under_way_ >= kWindow) return {};
    Piece piece;
    std::size_t bytes = 0;
    for (; next_ < jobs_.size() && piece.jobs.size() < Limits::piece; ++next_) {
      if (results_[next_].outcome == PutOutcome::refused) continue;
      const std::size_t more = jobs_[next_].payload.size();
      if (!piece.jobs.empty() && bytes + more > Limits::piece_bytes) break;
      bytes += more;
      piece.places.push_back(next_);
      piece.jobs.push_back(std::move(jobs_[next_]));
    }
    if (piece.jobs.empty()) return {};
    ++under_way_;
    return piece;
  }

  void send(Piece piece) {
    engine_->put(queue_, std::move(piece.jobs), PutMode::each, deadline_,
                 [self = shared_from_this(),
                  places = std::move(piece.places)](Result<std::vector<PutResult>> result) {
                   self->on_piece(places, std::move(result));
                   self->run();
                 });
  }

  void on_piece(const std::vector<std::size_t>& places, Result<std::vector<PutResult>> result) {
    const std::lock_guard lock(mutex_);
    --under_way_;
    if (result.ok()) {
      auto outcomes = std::move(result).value();
      for (std::size_t i = 0; i < places.size(); ++i) results_[places[i]] = std::move(outcomes[i]);
      return;
    }
    for (const std::size_t place : places) {
      results_[place].outcome = PutOutcome::refused;
      results_[place].error = result.error();
    }
  }

  std::shared_ptr<Engine> engine_;
  QueueName queue_;
  std::vector<NewJob> jobs_;
  std::vector<PutResult> results_;
  Deadline deadline_;
  Done<std::vector<PutResult>> done_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::size_t under_way_ = 0;
};

using Freshness = std::vector<char>;  // of each job, whether its id was made here

Freshness make_ids(Connection::Shared& shared, std::vector<NewJob>& jobs) {
  Freshness is_fresh;
  is_fresh.reserve(jobs.size());
  for (NewJob& job : jobs) {
    is_fresh.push_back(job.id ? 0 : 1);
    if (!job.id) job.id = shared.ids.job_id();
  }
  return is_fresh;
}

Done<std::vector<PutResult>> settled(Freshness is_fresh, Done<std::vector<PutResult>> done) {
  return [is_fresh = std::move(is_fresh),
          done = std::move(done)](Result<std::vector<PutResult>> result) {
    if (!result.ok()) return done(result.error());
    std::vector<PutResult> results = std::move(result).value();
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (is_fresh[i] != 0) settle_fresh(results[i]);
    }
    done(std::move(results));
  };
}

// Gives back to the budget at the end.
Done<std::vector<PutResult>> counted(std::shared_ptr<Budget> budget, std::size_t bytes,
                                     Done<std::vector<PutResult>> done) {
  return [budget = std::move(budget), bytes,
          done = std::move(done)](Result<std::vector<PutResult>> result) {
    budget->give_back(1, bytes);
    done(std::move(result));
  };
}

}  // namespace

void settle_fresh(PutResult& result) {
  if (result.outcome == PutOutcome::exists) result.outcome = PutOutcome::created;
}

void put_many(Connection::Shared& shared, const QueueName& queue, std::vector<NewJob> jobs,
              Deadline deadline, Done<std::vector<PutResult>> done) {
  Freshness is_fresh = make_ids(shared, jobs);
  std::vector<PutResult> results(jobs.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    results[i].id = *jobs[i].id;
    bytes += jobs[i].payload.size();
    if (auto error = core::check_job(jobs[i], shared.options.payload_limit)) {
      results[i].outcome = PutOutcome::refused;
      results[i].error = *std::move(error);
    }
  }
  if (const auto error = shared.budget->take(bytes)) {
    for (PutResult& result : results) {
      if (!result.error) result.error = error;
      result.outcome = PutOutcome::refused;
    }
    return done(std::move(results));
  }
  std::make_shared<Batch>(
      shared.engine, queue, std::move(jobs), std::move(results), deadline,
      counted(shared.budget, bytes, settled(std::move(is_fresh), std::move(done))))
      ->run();
}

void put_all(Connection::Shared& shared, const QueueName& queue, std::vector<NewJob> jobs,
             Deadline deadline, Done<std::vector<PutResult>> done) {
  Freshness is_fresh = make_ids(shared, jobs);
  std::size_t bytes = 0;
  for (const NewJob& job : jobs) {
    core::require(core::check_job(job, shared.options.payload_limit));
    bytes += job.payload.size();
  }
  if (jobs.empty() || jobs.size() > Limits::piece) {
    throw Error(ErrorCode::invalid_argument, "jobs: " + std::to_string(jobs.size()) +
                                                 " in an all-or-nothing batch, expected 1 .. " +
                                                 std::to_string(Limits::piece));
  }
  if (bytes > Limits::piece_bytes && jobs.size() > 1) {
    throw Error(ErrorCode::invalid_argument,
                "jobs: " + std::to_string(bytes) +
                    " payload bytes in an all-or-nothing batch, expected at most " +
                    std::to_string(Limits::piece_bytes));
  }
  if (const auto error = shared.budget->take(bytes)) throw Error(*error);
  shared.engine->put(queue, std::move(jobs), PutMode::all_or_nothing, deadline,
                     counted(shared.budget, bytes, settled(std::move(is_fresh), std::move(done))));
}

}  // namespace duly
