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

}  // namespace

void put_many(Connection::Shared& shared, const QueueName& queue, std::vector<NewJob> jobs,
              Deadline deadline, Done<std::vector<PutResult>> done) {
  std::vector<PutResult> results(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].id) jobs[i].id = shared.ids.job_id();
    results[i].id = *jobs[i].id;
    if (auto error = core::check_job(jobs[i], shared.options.payload_limit)) {
      results[i].outcome = PutOutcome::refused;
      results[i].error = *std::move(error);
    }
  }
  std::make_shared<Batch>(shared.engine, queue, std::move(jobs), std::move(results), deadline,
                          std::move(done))
      ->run();
}

void put_all(Connection::Shared& shared, const QueueName& queue, std::vector<NewJob> jobs,
             Deadline deadline, Done<std::vector<PutResult>> done) {
  std::size_t bytes = 0;
  for (NewJob& job : jobs) {
    if (!job.id) job.id = shared.ids.job_id();
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
  shared.engine->put(queue, std::move(jobs), PutMode::all_or_nothing, deadline, std::move(done));
}

}  // namespace duly
