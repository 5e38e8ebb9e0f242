#include "duly/admin.h"

#include <chrono>
#include <utility>

#include "src/client/await.h"
#include "src/client/check_run.h"
#include "src/client/shared.h"
#include "src/core/check.h"
#include "src/core/import.h"

namespace duly {

using core::require;

struct Admin::Impl {
  explicit Impl(Connection connection) : shared(connection.shared()) {}

  [[nodiscard]] Engine& engine() const { return *shared->engine; }

  // One call that answers by callback, with a fresh deadline.
  template <class T, class Call>
  T ask(Call call) const {
    return await<T>([&](Done<T> done) { call(shared->deadline(), std::move(done)); });
  }

  // The same for any number of ids, in pieces.
  template <class Call>
  std::vector<ChangeOutcome> change(const QueueName& queue, const std::vector<JobId>& ids,
                                    Call call) const {
    require(core::check_queue(queue));
    for (const JobId& id : ids) require(core::check_id(id));
    std::vector<ChangeOutcome> outcomes;
    for (std::size_t first = 0; first < ids.size(); first += Limits::piece) {
      const std::size_t last = std::min(ids.size(), first + Limits::piece);
      std::vector<JobId> piece(ids.begin() + static_cast<std::ptrdiff_t>(first),
                               ids.begin() + static_cast<std::ptrdiff_t>(last));
      const auto more = ask<std::vector<ChangeOutcome>>(
          [&](Deadline deadline, auto done) { call(std::move(piece), deadline, std::move(done)); });
      outcomes.insert(outcomes.end(), more.begin(), more.end());
    }
    return outcomes;
  }

  // Sweeps the dead letters in pieces, those only that were dead at the start.
  template <class Call>
  std::uint64_t sweep(const QueueName& queue, Call call) const {
    require(core::check_queue(queue));
    SystemTime died_by = Limits::last_due_at;
    std::uint64_t count = 0;
    while (true) {
      const auto swept = ask<DeadSweep>(
          [&](Deadline deadline, auto done) { call(died_by, deadline, std::move(done)); });
      count += swept.count;
      if (swept.count < Limits::piece) return count;
      died_by = std::min(died_by, swept.now);
    }
  }

  ChangeOutcome reschedule(const QueueName& queue, RescheduleRow row) const {
    require(core::check_queue(queue));
    require(core::check_id(row.id));
    return ask<std::vector<ChangeOutcome>>([&](Deadline deadline, auto done) {
             engine().reschedule(queue, {std::move(row)}, deadline, std::move(done));
           })
        .front();
  }

  std::shared_ptr<Connection::Shared> shared;
};

Admin::Admin(Connection connection) : impl_(std::make_unique<Impl>(std::move(connection))) {}
Admin::~Admin() = default;
Admin::Admin(Admin&&) noexcept = default;
Admin& Admin::operator=(Admin&&) noexcept = default;

std::vector<QueueName> Admin::queues() {
  return impl_->ask<std::vector<QueueName>>(
      [&](Deadline deadline, auto done) { impl_->engine().queues(deadline, std::move(done)); });
}

bool Admin::create(const QueueName& queue, EngineName engine) {
  require(core::check_queue(queue));
  return impl_->ask<bool>([&](Deadline deadline, auto done) {
    impl_->engine().create(queue, engine, deadline, std::move(done));
  });
}

QueueStats Admin::stats(const QueueName& queue) {
  require(core::check_queue(queue));
  return impl_->ask<QueueStats>([&](Deadline deadline, auto done) {
    impl_->engine().stats(queue, deadline, std::move(done));
  });
}

std::optional<JobInfo> Admin::find(const QueueName& queue, const JobId& id) {
  require(core::check_queue(queue));
  require(core::check_id(id));
  return impl_
      ->ask<std::vector<std::optional<JobInfo>>>([&](Deadline deadline, auto done) {
        impl_->engine().find(queue, {id}, deadline, std::move(done));
      })
      .at(0);
}

JobPage Admin::list(const QueueName& queue, JobState state, ListOptions options) {
  require(core::check_queue(queue));
  if (options.most < 1 || options.most > Limits::piece) {
    throw Error(ErrorCode::invalid_argument, "most: " + std::to_string(options.most) +
                                                 ", expected 1 .. " +
                                                 std::to_string(Limits::piece));
  }
  return impl_->ask<JobPage>([&](Deadline deadline, auto done) {
    impl_->engine().list(queue, state, std::move(options), deadline, std::move(done));
  });
}

std::vector<ChangeOutcome> Admin::cancel(const QueueName& queue, const std::vector<JobId>& ids) {
  return impl_->change(queue, ids, [&](std::vector<JobId> piece, Deadline deadline, auto done) {
    impl_->engine().cancel(queue, std::move(piece), deadline, std::move(done));
  });
}

ChangeOutcome Admin::cancel(const QueueName& queue, const JobId& id) {
  return cancel(queue, std::vector<JobId>{id}).front();
}

ChangeOutcome Admin::reschedule(const QueueName& queue, const JobId& id, Milliseconds delay) {
  require(core::check_delay(delay));
  return impl_->reschedule(queue, {.id = id, .delay = delay});
}

ChangeOutcome Admin::reschedule(const QueueName& queue, const JobId& id, SystemTime due_at) {
  require(core::check_due_at(due_at));
  return impl_->reschedule(queue, {.id = id, .due_at = due_at});
}

ChangeOutcome Admin::run_now(const QueueName& queue, const JobId& id) {
  return impl_
      ->change(queue, {id},
               [&](std::vector<JobId> piece, Deadline deadline, auto done) {
                 impl_->engine().run_now(queue, std::move(piece), deadline, std::move(done));
               })
      .front();
}

ChangeOutcome Admin::edit(const QueueName& queue, const JobId& id, std::string payload) {
  require(core::check_queue(queue));
  require(core::check_id(id));
  require(core::check_payload(payload, impl_->shared->options.payload_limit));
  return impl_
      ->ask<std::vector<ChangeOutcome>>([&](Deadline deadline, auto done) {
        impl_->engine().edit(queue, {{id, std::move(payload)}}, deadline, std::move(done));
      })
      .front();
}

std::vector<ChangeOutcome> Admin::replay(const QueueName& queue, const std::vector<JobId>& ids) {
  return impl_->change(queue, ids, [&](std::vector<JobId> piece, Deadline deadline, auto done) {
    impl_->engine().replay(queue, std::move(piece), deadline, std::move(done));
  });
}

std::uint64_t Admin::replay_all(const QueueName& queue) {
  return impl_->sweep(queue, [&](SystemTime died_by, Deadline deadline, auto done) {
    impl_->engine().replay_dead(queue, died_by, deadline, std::move(done));
  });
}

std::vector<ChangeOutcome> Admin::purge(const QueueName& queue, const std::vector<JobId>& ids) {
  return impl_->change(queue, ids, [&](std::vector<JobId> piece, Deadline deadline, auto done) {
    impl_->engine().purge(queue, std::move(piece), deadline, std::move(done));
  });
}

std::uint64_t Admin::purge_all(const QueueName& queue) {
  return impl_->sweep(queue, [&](SystemTime died_by, Deadline deadline, auto done) {
    impl_->engine().purge_dead(queue, died_by, deadline, std::move(done));
  });
}

void Admin::pause(const QueueName& queue) {
  require(core::check_queue(queue));
  impl_->ask<Nothing>([&](Deadline deadline, auto done) {
    impl_->engine().pause(queue, deadline, std::move(done));
  });
}

void Admin::resume(const QueueName& queue) {
  require(core::check_queue(queue));
  impl_->ask<Nothing>([&](Deadline deadline, auto done) {
    impl_->engine().resume(queue, deadline, std::move(done));
  });
}

QueueLimits Admin::limits(const QueueName& queue) {
  require(core::check_queue(queue));
  return impl_->ask<QueueLimits>([&](Deadline deadline, auto done) {
    impl_->engine().limits(queue, deadline, std::move(done));
  });
}

void Admin::set_limits(const QueueName& queue, const QueueLimits& limits) {
  require(core::check_queue(queue));
  require(core::check_limits(limits));
  impl_->ask<Nothing>([&](Deadline deadline, auto done) {
    impl_->engine().set_limits(queue, limits, deadline, std::move(done));
  });
}

std::uint64_t Admin::recover(const QueueName& queue) {
  require(core::check_queue(queue));
  std::uint64_t count = 0;
  while (true) {
    const auto more = impl_->ask<std::uint64_t>([&](Deadline deadline, auto done) {
      impl_->engine().recover(queue, deadline, std::move(done));
    });
    if (more == 0) return count;
    count += more;
  }
}

CheckReport Admin::check(const QueueName& queue, CheckMode mode) {
  require(core::check_queue(queue));
  return await<CheckReport>([&](Done<CheckReport> done) {
    run_check(impl_->shared->engine,
              {.queue = queue,
               .mode = mode,
               .deadline = [shared = impl_->shared] { return shared->deadline(); }},
              std::move(done));
  });
}

ImportPiece Admin::import_piece(const QueueName& queue, ImportRequest request) {
  require(core::check_queue(queue));
  require(core::check_import(request));
  return impl_->ask<ImportPiece>([&](Deadline deadline, auto done) {
    impl_->engine().import_piece(queue, std::move(request), impl_->shared->options.payload_limit,
                                 deadline, std::move(done));
  });
}

LibraryInfo Admin::library() {
  return impl_->ask<LibraryInfo>(
      [&](Deadline deadline, auto done) { impl_->engine().library(deadline, std::move(done)); });
}

void Admin::load_library() {
  impl_->ask<Nothing>([&](Deadline deadline, auto done) {
    impl_->engine().load_library(deadline, std::move(done));
  });
}

std::chrono::nanoseconds Admin::ping() {
  const auto start = std::chrono::steady_clock::now();
  impl_->ask<Nothing>(
      [&](Deadline deadline, auto done) { impl_->engine().ping(deadline, std::move(done)); });
  return std::chrono::steady_clock::now() - start;
}

}  // namespace duly
