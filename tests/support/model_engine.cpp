#include "tests/support/model_engine.h"

#include <map>
#include <mutex>
#include <utility>

#include "duly/version.h"
#include "tests/support/model_queue.h"

namespace duly::testing {
namespace {

using OnWake = std::function<void(std::optional<std::chrono::microseconds>)>;

class ModelWatch final : public Watch {
 public:
  ModelWatch(std::string waiter, std::function<void()> stop)
      : waiter_(std::move(waiter)), stop_(std::move(stop)) {}
  ~ModelWatch() override { stop_(); }
  ModelWatch(const ModelWatch&) = delete;
  ModelWatch& operator=(const ModelWatch&) = delete;
  [[nodiscard]] const std::string& waiter() const override { return waiter_; }

 private:
  std::string waiter_;
  std::function<void()> stop_;
};

class ModelEngine final : public Engine, public std::enable_shared_from_this<ModelEngine> {
 private:
  ModelQueue& of(const QueueName& queue) {
    return queues_.try_emplace(queue, queue, *clock_).first->second;
  }

  // Runs `step` under the lock; who is to be woken is told after it.
  template <class Step>
  auto with(const QueueName& queue, Step step) {
    std::unique_lock lock(mutex_);
    ModelQueue& q = of(queue);
    auto value = step(q);
    std::vector<std::pair<OnWake, std::chrono::microseconds>> calls;
    for (const auto& [waiter, in] : q.wake.take_messages()) {
      const auto found = on_wake_.find(waiter);
      if (found != on_wake_.end()) calls.emplace_back(found->second, in);
    }
    lock.unlock();
    for (const auto& [on_wake, in] : calls) on_wake(in);
    return value;
  }

  template <class Row, class Step>
  auto each(const QueueName& queue, const std::vector<Row>& rows, Step step) {
    return with(queue, [&](ModelQueue& q) {
      std::vector<decltype(step(q, rows.front()))> outcomes;
      for (const Row& row : rows) outcomes.push_back(step(q, row));
      return outcomes;
    });
  }

 public:
  explicit ModelEngine(std::shared_ptr<const ManualClock> clock) : clock_(std::move(clock)) {}

  void put(const QueueName& queue, std::vector<NewJob> jobs, PutMode mode, Deadline /*deadline*/,
           Done<std::vector<PutResult>> done) override {
    done(with(queue, [&](ModelQueue& q) { return q.put(jobs, mode); }));
  }

  void claim(const QueueName& queue, ClaimRequest request, Deadline /*deadline*/,
             Done<ClaimReply> done) override {
    done(with(queue, [&](ModelQueue& q) { return q.claim(request); }));
  }

  void ack(const QueueName& queue, std::vector<AckRow> rows, Deadline /*deadline*/,
           Done<std::vector<LeaseOutcome>> done) override {
    done(each(queue, rows,
              [](ModelQueue& q, const AckRow& row) { return q.ack(row.held, row.result); }));
  }

  void fail(const QueueName& queue, std::vector<FailRow> rows, Deadline /*deadline*/,
            Done<std::vector<LeaseOutcome>> done) override {
    done(each(queue, rows,
              [](ModelQueue& q, const FailRow& row) { return q.fail(row.held, row.failure); }));
  }

  void release(const QueueName& queue, std::vector<Held> held, Deadline /*deadline*/,
               Done<std::vector<LeaseOutcome>> done) override {
    done(each(queue, held, [](ModelQueue& q, const Held& row) { return q.release(row); }));
  }

  void extend(const QueueName& queue, std::vector<ExtendRow> rows, Deadline /*deadline*/,
              Done<std::vector<ExtendResult>> done) override {
    done(each(queue, rows,
              [](ModelQueue& q, const ExtendRow& row) { return q.extend(row.held, row.lease); }));
  }

  void cancel(const QueueName& queue, std::vector<JobId> ids, Deadline /*deadline*/,
              Done<std::vector<ChangeOutcome>> done) override {
    done(each(queue, ids, [](ModelQueue& q, const JobId& id) { return q.cancel(id); }));
  }

  void reschedule(const QueueName& queue, std::vector<RescheduleRow> rows, Deadline /*deadline*/,
                  Done<std::vector<ChangeOutcome>> done) override {
    using Outcomes = std::vector<ChangeOutcome>;
    done(with(queue, [&](ModelQueue& q) -> Result<Outcomes> {
      Outcomes outcomes;
      bool is_valid = true;
      for (const RescheduleRow& row : rows) {
        const auto due_at = q.due_of(row.delay, row.due_at);
        is_valid = is_valid && due_at;
        outcomes.push_back(due_at ? q.reschedule(row.id, *due_at) : ChangeOutcome::not_found);
      }
      if (!is_valid) return Error(ErrorCode::invalid_argument, "delay: beyond the limits");
      return outcomes;
    }));
  }

  void run_now(const QueueName& queue, std::vector<JobId> ids, Deadline /*deadline*/,
               Done<std::vector<ChangeOutcome>> done) override {
    done(each(queue, ids, [](ModelQueue& q, const JobId& id) { return q.run_now(id); }));
  }

  void edit(const QueueName& queue, std::vector<EditRow> rows, Deadline /*deadline*/,
            Done<std::vector<ChangeOutcome>> done) override {
    done(each(queue, rows,
              [](ModelQueue& q, const EditRow& row) { return q.edit(row.id, row.payload); }));
  }

  void replay(const QueueName& queue, std::vector<JobId> ids, Deadline /*deadline*/,
              Done<std::vector<ChangeOutcome>> done) override {
    done(each(queue, ids, [](ModelQueue& q, const JobId& id) { return q.replay(id); }));
  }

  void purge(const QueueName& queue, std::vector<JobId> ids, Deadline /*deadline*/,
             Done<std::vector<ChangeOutcome>> done) override {
    done(each(queue, ids, [](ModelQueue& q, const JobId& id) { return q.purge(id); }));
  }

  void replay_dead(const QueueName& queue, SystemTime died_by, Deadline /*deadline*/,
                   Done<DeadSweep> done) override {
    done(with(queue, [&](ModelQueue& q) { return q.replay_dead(died_by); }));
  }

  void purge_dead(const QueueName& queue, SystemTime died_by, Deadline /*deadline*/,
                  Done<DeadSweep> done) override {
    done(with(queue, [&](ModelQueue& q) { return q.purge_dead(died_by); }));
  }

  void find(const QueueName& queue, std::vector<JobId> ids, Deadline /*deadline*/,
            Done<std::vector<std::optional<JobInfo>>> done) override {
    done(each(queue, ids, [](ModelQueue& q, const JobId& id) { return q.find(id); }));
  }

  void list(const QueueName& queue, JobState state, ListOptions options, Deadline /*deadline*/,
            Done<JobPage> done) override {
    done(with(queue, [&](ModelQueue& q) { return q.list(state, options); }));
  }

  void stats(const QueueName& queue, Deadline /*deadline*/, Done<QueueStats> done) override {
    done(with(queue, [](ModelQueue& q) { return q.stats(); }));
  }

  void limits(const QueueName& queue, Deadline /*deadline*/, Done<QueueLimits> done) override {
    done(with(queue, [](ModelQueue& q) { return q.limits(); }));
  }

  void set_limits(const QueueName& queue, QueueLimits limits, Deadline /*deadline*/,
                  Done<Nothing> done) override {
    with(queue, [&](ModelQueue& q) {
      q.set_limits(limits);
      return Nothing{};
    });
    done(Nothing{});
  }

  void pause(const QueueName& queue, Deadline /*deadline*/, Done<Nothing> done) override {
    with(queue, [](ModelQueue& q) {
      q.pause();
      return Nothing{};
    });
    done(Nothing{});
  }

  void resume(const QueueName& queue, Deadline /*deadline*/, Done<Nothing> done) override {
    with(queue, [](ModelQueue& q) {
      q.resume();
      return Nothing{};
    });
    done(Nothing{});
  }

  void recover(const QueueName& queue, Deadline /*deadline*/, Done<std::uint64_t> done) override {
    done(with(queue, [](ModelQueue& q) { return q.recover(); }));
  }

  void check(const QueueName& /*queue*/, CheckRequest /*request*/, Deadline /*deadline*/,
             Done<CheckPiece> done) override {
    done(CheckPiece{});
  }

  void create(const QueueName& /*queue*/, EngineName /*engine*/, Deadline /*deadline*/,
              Done<bool> done) override {
    done(Error(ErrorCode::invalid_argument, "engine 'model': does not support create"));
  }

  void import_piece(const QueueName& /*queue*/, ImportRequest /*request*/,
                    std::size_t /*payload_limit*/, Deadline /*deadline*/,
                    Done<ImportPiece> done) override {
    done(Error(ErrorCode::invalid_argument, "engine 'model' does not support import"));
  }

  void queues(Deadline /*deadline*/, Done<std::vector<QueueName>> done) override {
    std::vector<QueueName> names;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [name, queue] : queues_) names.push_back(name);
    }
    done(std::move(names));
  }

  void library(Deadline /*deadline*/, Done<LibraryInfo> done) override {
    done(LibraryInfo{.version = std::string(kVersion), .ours = std::string(kVersion)});
  }

  void load_library(Deadline /*deadline*/, Done<Nothing> done) override { done(Nothing{}); }
  void ping(Deadline /*deadline*/, Done<Nothing> done) override { done(Nothing{}); }

  std::unique_ptr<Watch> watch(const QueueName& queue, OnWake on_wake) override {
    std::string waiter;
    {
      const std::lock_guard lock(mutex_);
      waiter = queue.text() + ":wake:" + std::to_string(++watches_);
      on_wake_[waiter] = on_wake;
      of(queue).wake.listen(waiter);
    }
    on_wake({});
    return std::make_unique<ModelWatch>(waiter, [weak = weak_from_this(), queue, waiter] {
      const auto self = weak.lock();
      if (!self) return;
      const std::lock_guard lock(self->mutex_);
      self->on_wake_.erase(waiter);
      self->of(queue).wake.stop_listening(waiter);
    });
  }

 private:
  std::shared_ptr<const ManualClock> clock_;
  std::mutex mutex_;
  std::map<QueueName, ModelQueue> queues_;
  std::map<std::string, OnWake> on_wake_;
  int watches_ = 0;
};

}  // namespace

std::shared_ptr<Engine> make_model_engine(std::shared_ptr<const ManualClock> clock) {
  return std::make_shared<ModelEngine>(std::move(clock));
}

}  // namespace duly::testing
