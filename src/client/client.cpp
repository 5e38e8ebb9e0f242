#include "duly/client.h"

#include <map>
#include <mutex>
#include <utility>

#include "src/client/await.h"
#include "src/client/batcher.h"
#include "src/client/put_many.h"
#include "src/client/shared.h"
#include "src/core/check.h"

namespace duly {
namespace {

using core::require;

constexpr std::size_t kMostClaimed = 10'000;

void check_held(const QueueName& queue, const Held& held) {
  require(core::check_queue(queue));
  require(core::check_id(held.id));
  require(core::check_token(held.token));
}

std::vector<AckRow> ack_rows_of(const std::vector<Held>& held) {
  std::vector<AckRow> rows;
  rows.reserve(held.size());
  for (const Held& one : held) rows.push_back({one});
  return rows;
}

// The batchers of one queue.
struct Lanes {
  Lanes(const std::shared_ptr<Engine>& engine, const std::shared_ptr<Budget>& budget,
        const QueueName& queue)
      : put(std::make_shared<Batcher<NewJob, PutResult>>(
            budget,
            [engine, queue](std::vector<NewJob> jobs, Deadline deadline, auto done) {
              engine->put(queue, std::move(jobs), PutMode::each, deadline, std::move(done));
            },
            [](const NewJob& job) { return job.payload.size(); })),
        ack(std::make_shared<Batcher<AckRow, LeaseOutcome>>(
            budget,
            [engine, queue](std::vector<AckRow> rows, Deadline deadline, auto done) {
              engine->ack(queue, std::move(rows), deadline, std::move(done));
            },
            [](const AckRow& row) { return row.result.size(); })),
        release(std::make_shared<Batcher<Held, LeaseOutcome>>(
            budget,
            [engine, queue](std::vector<Held> held, Deadline deadline, auto done) {
              engine->release(queue, std::move(held), deadline, std::move(done));
            },
            [](const Held&) { return std::size_t{0}; })),
        fail(std::make_shared<Batcher<FailRow, LeaseOutcome>>(
            budget,
            [engine, queue](std::vector<FailRow> rows, Deadline deadline, auto done) {
              engine->fail(queue, std::move(rows), deadline, std::move(done));
            },
            [](const FailRow& row) { return row.failure.error.size(); })),
        extend(std::make_shared<Batcher<ExtendRow, ExtendResult>>(
            budget,
            [engine, queue](std::vector<ExtendRow> rows, Deadline deadline, auto done) {
              engine->extend(queue, std::move(rows), deadline, std::move(done));
            },
            [](const ExtendRow&) { return std::size_t{0}; })) {}

  std::shared_ptr<Batcher<NewJob, PutResult>> put;
  std::shared_ptr<Batcher<AckRow, LeaseOutcome>> ack;
  std::shared_ptr<Batcher<Held, LeaseOutcome>> release;
  std::shared_ptr<Batcher<FailRow, LeaseOutcome>> fail;
  std::shared_ptr<Batcher<ExtendRow, ExtendResult>> extend;
};

// A claim of any size, in pieces, one after the other.
class LongClaim : public std::enable_shared_from_this<LongClaim> {
 public:
  LongClaim(std::shared_ptr<Connection::Shared> shared, QueueName queue, ClaimOptions options,
            Deadline deadline, Done<std::vector<ActiveJob>> done)
      : shared_(std::move(shared)),
        queue_(std::move(queue)),
        options_(options),
        deadline_(deadline),
        done_(std::move(done)) {}

  void run() {
    const std::size_t left = options_.most - jobs_.size();
    shared_->engine->claim(queue_,
                           {.most = std::min(left, Limits::piece),
                            .lease = options_.lease,
                            .token = shared_->ids.token()},
                           deadline_, [self = shared_from_this()](Result<ClaimReply> reply) {
                             self->on_reply(std::move(reply));
                           });
  }

 private:
  void on_reply(Result<ClaimReply> result) {
    // What an earlier piece took is the caller's, whatever became of the later ones.
    if (!result.ok()) return jobs_.empty() ? done_(result.error()) : done_(std::move(jobs_));
    ClaimReply reply = std::move(result).value();
    const bool is_last = reply.jobs.empty() || reply.next_in != std::chrono::microseconds{0};
    jobs_.insert(jobs_.end(), std::make_move_iterator(reply.jobs.begin()),
                 std::make_move_iterator(reply.jobs.end()));
    if (is_last || jobs_.size() >= options_.most) return done_(std::move(jobs_));
    run();
  }

  std::shared_ptr<Connection::Shared> shared_;
  QueueName queue_;
  ClaimOptions options_;
  Deadline deadline_;
  Done<std::vector<ActiveJob>> done_;
  std::vector<ActiveJob> jobs_;
};

}  // namespace

struct Client::Impl {
  explicit Impl(Connection connection) : shared(connection.shared()) {}

  Lanes& lanes(const QueueName& queue) {
    const std::lock_guard lock(mutex);
    return lanes_of.try_emplace(queue, shared->engine, shared->budget, queue).first->second;
  }

  // The outcomes of many rows, in pieces of the engine's size, in order.
  template <class Row, class Call>
  std::vector<LeaseOutcome> in_pieces(const std::vector<Row>& rows, Call call) const {
    std::vector<LeaseOutcome> outcomes;
    for (std::size_t first = 0; first < rows.size(); first += Limits::piece) {
      const std::size_t last = std::min(rows.size(), first + Limits::piece);
      std::vector<Row> piece(rows.begin() + static_cast<std::ptrdiff_t>(first),
                             rows.begin() + static_cast<std::ptrdiff_t>(last));
      const auto more = await<std::vector<LeaseOutcome>>(
          [&](auto done) { call(std::move(piece), shared->deadline(), std::move(done)); });
      outcomes.insert(outcomes.end(), more.begin(), more.end());
    }
    return outcomes;
  }

  std::shared_ptr<Connection::Shared> shared;
  std::mutex mutex;
  std::map<QueueName, Lanes> lanes_of;  // nodes never move
};

Client::Client(Connection connection) : impl_(std::make_unique<Impl>(std::move(connection))) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

std::future<PutResult> Client::put_async(const QueueName& queue, NewJob job) {
  require(core::check_queue(queue));
  require(core::check_job(job, impl_->shared->options.payload_limit));
  const bool is_fresh = !job.id;
  if (is_fresh) job.id = impl_->shared->ids.job_id();
  auto promise = std::make_shared<std::promise<PutResult>>();
  auto future = promise->get_future();
  impl_->lanes(queue).put->add(
      std::move(job), impl_->shared->deadline(), [promise, is_fresh](Result<PutResult> result) {
        if (result.ok() && !result.value().error) {
          PutResult put = std::move(result).value();
          if (is_fresh) settle_fresh(put);
          promise->set_value(std::move(put));
        } else {
          promise->set_exception(
              std::make_exception_ptr(result.ok() ? *result.value().error : result.error()));
        }
      });
  return future;
}

PutResult Client::put(const QueueName& queue, NewJob job) {
  return put_async(queue, std::move(job)).get();
}

std::future<std::vector<PutResult>> Client::put_async(const QueueName& queue,
                                                      std::vector<NewJob> jobs, PutMode mode) {
  require(core::check_queue(queue));
  auto [done, future] = promised<std::vector<PutResult>>();
  const auto start = mode == PutMode::each ? put_many : put_all;
  start(*impl_->shared, queue, std::move(jobs), impl_->shared->deadline(), std::move(done));
  return std::move(future);
}

std::vector<PutResult> Client::put(const QueueName& queue, std::vector<NewJob> jobs, PutMode mode) {
  return put_async(queue, std::move(jobs), mode).get();
}

std::future<std::vector<ActiveJob>> Client::claim_async(const QueueName& queue,
                                                        ClaimOptions options) {
  require(core::check_queue(queue));
  require(core::check_lease(options.lease));
  if (options.most < 1 || options.most > kMostClaimed) {
    throw Error(ErrorCode::invalid_argument, "most: " + std::to_string(options.most) +
                                                 ", expected 1 .. " + std::to_string(kMostClaimed));
  }
  auto [done, future] = promised<std::vector<ActiveJob>>();
  std::make_shared<LongClaim>(impl_->shared, queue, options, impl_->shared->deadline(),
                              std::move(done))
      ->run();
  return std::move(future);
}

std::vector<ActiveJob> Client::claim(const QueueName& queue, ClaimOptions options) {
  return claim_async(queue, options).get();
}

std::future<LeaseOutcome> Client::ack_async(const QueueName& queue, const Held& held,
                                            std::string result) {
  check_held(queue, held);
  require(core::check_result(result));
  auto [done, future] = promised<LeaseOutcome>();
  impl_->lanes(queue).ack->add({held, std::move(result)}, impl_->shared->deadline(),
                               std::move(done));
  return std::move(future);
}

LeaseOutcome Client::ack(const ActiveJob& job, std::string result) {
  return ack(job.queue, {job.id, job.token}, std::move(result));
}

LeaseOutcome Client::ack(const QueueName& queue, const Held& held, std::string result) {
  return ack_async(queue, held, std::move(result)).get();
}

std::vector<LeaseOutcome> Client::ack(const QueueName& queue, const std::vector<Held>& held) {
  for (const Held& one : held) check_held(queue, one);
  const std::vector<AckRow> rows = ack_rows_of(held);
  return impl_->in_pieces(rows, [&](std::vector<AckRow> piece, Deadline deadline, auto done) {
    impl_->shared->engine->ack(queue, std::move(piece), deadline, std::move(done));
  });
}

LeaseOutcome Client::fail(const ActiveJob& job, const Failure& failure) {
  return fail(job.queue, {job.id, job.token}, failure);
}

LeaseOutcome Client::fail(const QueueName& queue, const Held& held, const Failure& failure) {
  check_held(queue, held);
  require(core::check_failure(failure));
  return await<LeaseOutcome>([&](auto done) {
    impl_->lanes(queue).fail->add({held, failure}, impl_->shared->deadline(), std::move(done));
  });
}

LeaseOutcome Client::release(const ActiveJob& job) {
  return release(job.queue, {job.id, job.token});
}

LeaseOutcome Client::release(const QueueName& queue, const Held& held) {
  check_held(queue, held);
  return await<LeaseOutcome>([&](auto done) {
    impl_->lanes(queue).release->add(held, impl_->shared->deadline(), std::move(done));
  });
}

std::vector<LeaseOutcome> Client::release(const QueueName& queue, const std::vector<Held>& held) {
  for (const Held& one : held) check_held(queue, one);
  return impl_->in_pieces(held, [&](std::vector<Held> piece, Deadline deadline, auto done) {
    impl_->shared->engine->release(queue, std::move(piece), deadline, std::move(done));
  });
}

LeaseOutcome Client::extend(const ActiveJob& job, Milliseconds lease) {
  return extend(job.queue, {job.id, job.token}, lease);
}

LeaseOutcome Client::extend(const QueueName& queue, const Held& held, Milliseconds lease) {
  check_held(queue, held);
  require(core::check_lease(lease));
  return await<ExtendResult>([&](auto done) {
           impl_->lanes(queue).extend->add({held, lease}, impl_->shared->deadline(),
                                           std::move(done));
         })
      .outcome;
}

}  // namespace duly
