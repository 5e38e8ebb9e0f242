#include "src/engine/function_engine.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "src/engine/clock_watch.h"
#include "src/engine/expiry_events.h"
#include "src/engine/lease_watch.h"
#include "src/engine/library.h"
#include "src/engine/queue_keys.h"
#include "src/engine/replies.h"
#include "src/engine/rows.h"

namespace duly {
namespace {

using redis::Command;
using redis::Ending;
using redis::Reply;

// So often, at most, a busy process adds its queues to the set of names again, in case the set was
// lost.
constexpr std::chrono::seconds kRegisterAgain{30};

std::int64_t ms_of(SystemTime time) { return time.time_since_epoch().count(); }

class FunctionEngine final : public Engine, public std::enable_shared_from_this<FunctionEngine> {
 public:
  FunctionEngine(redis::Io& io, std::shared_ptr<redis::Topology> topology,
                 FunctionEngineOptions options)
      : topology_(topology),
        library_(
            std::make_shared<Library>(io, std::move(topology), options.parts, options.version)),
        process_name_(std::move(options.process_name)),
        expiry_(
            std::make_shared<ExpiryListeners>(library_, topology_, options.database, options.warn)),
        clock_(std::make_shared<ClockWatch>(std::move(options.warn))) {}

  void put(const QueueName& queue, std::vector<NewJob> jobs, PutMode mode, Deadline deadline,
           Done<std::vector<PutResult>> done) override {
    Command arguments = put_rows(jobs, mode);
    register_queue(queue, deadline);
    // The reply needs ids and times only.
    for (NewJob& job : jobs) job.payload = {};
    call(queue, "duly_put", std::move(arguments), deadline, Repeat::safe, std::move(done),
         [jobs = std::move(jobs)](Reply reply) { return replies::put(reply, jobs); });
  }

  void claim(const QueueName& queue, ClaimRequest request, Deadline deadline,
             Done<ClaimReply> done) override {
    const std::shared_ptr<ExpiryEvents> events = expiry_->of(request.waiter);
    const auto expired = events ? events->take(request.most) : std::vector<std::string>{};
    Command arguments = claim_arguments(request, expired);
    register_queue(queue, deadline);
    call(queue, "duly_claim", std::move(arguments), deadline, Repeat::safe, std::move(done),
         [queue, lease = request.lease, weak_expiry = std::weak_ptr(expiry_),
          weak_events = std::weak_ptr(events), was_sweep = expired.empty()](Reply reply) {
           const bool listens = reply.items.size() > 3 && reply.items[3].text == "listen";
           auto result = replies::claim(std::move(reply), queue, lease);
           // Weak: a call that is under way must not keep the connection that it waits for.
           const auto expiry = weak_expiry.lock();
           const auto told = weak_events.lock();
           if (!listens || !expiry || !told || !result.ok()) return result;
           return Result<ClaimReply>(
               expiry->listen(queue, told, was_sweep, std::move(result).value()));
         });
  }

  void ack(const QueueName& queue, std::vector<AckRow> rows, Deadline deadline,
           Done<std::vector<LeaseOutcome>> done) override {
    const std::size_t count = rows.size();
    end_leases(queue, "duly_ack", ack_rows(rows), count, LeaseOutcome::acked, deadline,
               std::move(done));
  }

  void release(const QueueName& queue, std::vector<Held> held, Deadline deadline,
               Done<std::vector<LeaseOutcome>> done) override {
    end_leases(queue, "duly_release", held_rows(held), held.size(), LeaseOutcome::released,
               deadline, std::move(done));
  }

  void fail(const QueueName& queue, std::vector<FailRow> rows, Deadline deadline,
            Done<std::vector<LeaseOutcome>> done) override {
    end_leases(queue, "duly_fail", fail_rows(rows), rows.size(), LeaseOutcome::failed, deadline,
               std::move(done));
  }

  void extend(const QueueName& queue, std::vector<ExtendRow> rows, Deadline deadline,
              Done<std::vector<ExtendResult>> done) override {
    call(queue, "duly_extend", extend_rows(rows), deadline, Repeat::safe, std::move(done),
         [rows](const Reply& reply) { return replies::extend(reply, rows); });
  }

  void cancel(const QueueName& queue, std::vector<JobId> ids, Deadline deadline,
              Done<std::vector<ChangeOutcome>> done) override {
    change(queue, "duly_cancel", id_rows(ids), ids.size(), Repeat::never, deadline,
           std::move(done));
  }

  void run_now(const QueueName& queue, std::vector<JobId> ids, Deadline deadline,
               Done<std::vector<ChangeOutcome>> done) override {
    change(queue, "duly_run_now", id_rows(ids), ids.size(), Repeat::never, deadline,
           std::move(done));
  }

  void replay(const QueueName& queue, std::vector<JobId> ids, Deadline deadline,
              Done<std::vector<ChangeOutcome>> done) override {
    change(queue, "duly_replay", id_rows(ids), ids.size(), Repeat::never, deadline,
           std::move(done));
  }

  void purge(const QueueName& queue, std::vector<JobId> ids, Deadline deadline,
             Done<std::vector<ChangeOutcome>> done) override {
    change(queue, "duly_purge", id_rows(ids), ids.size(), Repeat::never, deadline, std::move(done));
  }

  void replay_dead(const QueueName& queue, SystemTime died_by, Deadline deadline,
                   Done<DeadSweep> done) override {
    sweep(queue, "duly_replay", died_by, deadline, std::move(done));
  }

  void purge_dead(const QueueName& queue, SystemTime died_by, Deadline deadline,
                  Done<DeadSweep> done) override {
    sweep(queue, "duly_purge", died_by, deadline, std::move(done));
  }

  void reschedule(const QueueName& queue, std::vector<RescheduleRow> rows, Deadline deadline,
                  Done<std::vector<ChangeOutcome>> done) override {
    // With a delay, a second time would move it again: by as much as the first answer was late.
    change(queue, "duly_reschedule", reschedule_rows(rows), rows.size(), Repeat::never, deadline,
           std::move(done));
  }

  void edit(const QueueName& queue, std::vector<EditRow> rows, Deadline deadline,
            Done<std::vector<ChangeOutcome>> done) override {
    Command arguments{"columns", "2", "id", "payload"};
    for (const EditRow& row : rows) arguments.add(row.id.text()).add(row.payload);
    change(queue, "duly_edit", std::move(arguments), rows.size(), Repeat::safe, deadline,
           std::move(done));
  }

  void find(const QueueName& queue, std::vector<JobId> ids, Deadline deadline,
            Done<std::vector<std::optional<JobInfo>>> done) override {
    call(queue, "duly_find", id_rows(ids), deadline, Repeat::read, std::move(done),
         [queue](const Reply& reply) { return replies::find(reply, queue); });
  }

  void list(const QueueName& queue, JobState state, ListOptions options, Deadline deadline,
            Done<JobPage> done) override {
    Command arguments{"state", to_string(state), "after", options.after, "most"};
    arguments.add(static_cast<std::int64_t>(options.most));
    call(queue, "duly_list", std::move(arguments), deadline, Repeat::read, std::move(done),
         [queue](const Reply& reply) { return replies::list(reply, queue); });
  }

  void stats(const QueueName& queue, Deadline deadline, Done<QueueStats> done) override {
    call(queue, "duly_stats", {}, deadline, Repeat::read, std::move(done),
         [queue](const Reply& reply) { return replies::stats(reply, queue); });
  }

  void limits(const QueueName& queue, Deadline deadline, Done<QueueLimits> done) override {
    call(queue, "duly_limits", {}, deadline, Repeat::read, std::move(done), replies::limits);
  }

  void set_limits(const QueueName& queue, QueueLimits limits, Deadline deadline,
                  Done<Nothing> done) override {
    register_queue(queue, deadline);
    call(queue, "duly_limits", limit_pairs(limits), deadline, Repeat::safe, std::move(done),
         [](const Reply&) { return Result<Nothing>(Nothing{}); });
  }

  void pause(const QueueName& queue, Deadline deadline, Done<Nothing> done) override {
    register_queue(queue, deadline);
    call(queue, "duly_pause", {}, deadline, Repeat::safe, std::move(done),
         [](const Reply&) { return Result<Nothing>(Nothing{}); });
  }

  void resume(const QueueName& queue, Deadline deadline, Done<Nothing> done) override {
    call(queue, "duly_resume", {}, deadline, Repeat::safe, std::move(done),
         [](const Reply&) { return Result<Nothing>(Nothing{}); });
  }

  void recover(const QueueName& queue, Deadline deadline, Done<std::uint64_t> done) override {
    call(queue, "duly_recover", {}, deadline, Repeat::never, std::move(done),
         [](const Reply& reply) {
           return Result<std::uint64_t>(
               reply.items.size() == 2 ? static_cast<std::uint64_t>(reply.items[1].integer) : 0);
         });
  }

  void check(const QueueName& queue, CheckRequest request, Deadline deadline,
             Done<CheckPiece> done) override {
    call(queue, "duly_check", check_arguments(request), deadline, Repeat::safe, std::move(done),
         [](const Reply& reply) { return replies::check(reply); });
  }

  void create(const QueueName& queue, EngineName engine, Deadline deadline,
              Done<bool> done) override {
    const auto create = [weak = weak_from_this(), queue, engine, deadline](Done<bool> then) {
      const auto self = weak.lock();
      if (!self) return;
      self->register_queue(queue, deadline);
      self->call(queue, "duly_create", Command{"engine", to_string(engine)}, deadline, Repeat::safe,
                 std::move(then), [](const Reply& reply) {
                   return Result<bool>(!reply.items.empty() && reply.items[0].text == "created");
                 });
    };
    if (engine != EngineName::keyspace) return create(std::move(done));
    need_expiry_events(library_, deadline, [create, done](const Result<Nothing>& result) {
      if (!result.ok()) return done(result.error());
      create(done);
    });
  }

  void import_piece(const QueueName& queue, ImportRequest request, std::size_t payload_limit,
                    Deadline deadline, Done<ImportPiece> done) override {
    if (request.mode == ImportMode::move) register_queue(queue, deadline);
    Command keys = keys_of(queue)->all;
    keys.add(request.source.set);
    if (request.source.contents) keys.add(*request.source.contents);
    // A second try would not know what the first had moved.
    call(
        queue, "duly_import", import_arguments(request, payload_limit), deadline, Repeat::never,
        std::move(done), [](const Reply& reply) { return replies::import_piece(reply); }, {},
        std::move(keys));
  }

  void queues(Deadline deadline, Done<std::vector<QueueName>> done) override {
    plain(Command{"SMEMBERS", kQueuesKey}, deadline, std::move(done), [](const Reply& reply) {
      std::vector<QueueName> names;
      for (const Reply& item : reply.items) names.emplace_back(item.text);
      std::sort(names.begin(), names.end());
      return names;
    });
  }

  void library(Deadline deadline, Done<LibraryInfo> done) override {
    library_->info(deadline, std::move(done));
  }

  void load_library(Deadline deadline, Done<Nothing> done) override {
    library_->load(deadline, std::move(done));
  }

  void ping(Deadline deadline, Done<Nothing> done) override {
    plain(Command{"PING"}, deadline, std::move(done), [](const Reply&) { return Nothing{}; });
  }

  std::unique_ptr<Watch> watch(
      const QueueName& queue,
      std::function<void(std::optional<std::chrono::microseconds> next_in)> on_wake) override {
    std::string channel = keys_of(queue)->wake_prefix + process_name_;
    auto events = expiry_->make(channel, keys_of(queue)->timer_prefix, on_wake);
    auto subscription = topology_->subscribe(
        channel,
        {.message =
             [on_wake](std::string_view message) {
               on_wake(std::chrono::microseconds{std::atoll(std::string(message).c_str())});
             },
         .subscribed = [on_wake] { on_wake({}); }});
    return std::make_unique<LeaseWatch>(std::move(channel), std::move(subscription),
                                        std::move(events));
  }

 private:
  struct Known {
    std::shared_ptr<const QueueKeys> keys;
    Deadline register_at{};  // when the name is to be added to the set of queues again
  };

  std::shared_ptr<const QueueKeys> keys_of(const QueueName& queue) {
    const std::lock_guard lock(mutex_);
    Known& known = known_[queue];
    if (!known.keys) known.keys = std::make_shared<QueueKeys>(queue);
    return known.keys;
  }

  // The set of names is in another slot than the queue, so it is written beside it, not inside put.
  void register_queue(const QueueName& queue, Deadline deadline) {
    {
      const std::lock_guard lock(mutex_);
      Known& known = known_[queue];
      const auto now = std::chrono::steady_clock::now();
      if (now < known.register_at) return;
      known.register_at = now + kRegisterAgain;
    }
    topology_->send(kQueuesKey, Command{"SADD", kQueuesKey, queue.text()}, deadline,
                    [queue, weak = weak_from_this()](const Ending& ending) {
                      const auto self = weak.lock();
                      if (!self || (ending.kind == Ending::Kind::done && !ending.reply.is_error()))
                        return;
                      self->forget_registration(queue);
                    });
  }

  template <class T, class Parse>
  void call(const QueueName& queue, std::string function, Command arguments, Deadline deadline,
            Repeat repeat, Done<T> done, Parse parse,
            std::function<bool(const Reply&)> settles = {}, std::optional<Command> all_keys = {}) {
    const auto keys = keys_of(queue);
    library_->call({.function = std::move(function),
                    .route = keys->route,
                    .keys = all_keys ? *std::move(all_keys) : keys->all,
                    .arguments = std::move(arguments),
                    .deadline = deadline,
                    .repeat = repeat,
                    .settles = std::move(settles)},
                   [done = std::move(done), parse = std::move(parse), clock = clock_,
                    asked_at = ClockWatch::now()](Result<Reply> result) {
                     if (!result.ok()) return done(result.error());
                     clock->look(asked_at, result.value());
                     done(parse(std::move(result).value()));
                   });
  }

  template <class T, class Parse>
  void plain(Command command, Deadline deadline, Done<T> done, Parse parse) {
    library_->plain(
        std::move(command), deadline,
        [done = std::move(done), parse = std::move(parse)](const Result<Reply>& result) {
          if (!result.ok()) return done(result.error());
          if (result.value().is_error()) return done(error_of(result.value()));
          done(parse(result.value()));
        });
  }

  void change(const QueueName& queue, std::string function, Command arguments, std::size_t rows,
              Repeat repeat, Deadline deadline, Done<std::vector<ChangeOutcome>> done) {
    call(queue, std::move(function), std::move(arguments), deadline, repeat, std::move(done),
         [rows](const Reply& reply) { return replies::change_outcomes(reply, rows); });
  }

  void sweep(const QueueName& queue, std::string function, SystemTime died_by, Deadline deadline,
             Done<DeadSweep> done) {
    Command arguments{"most"};
    arguments.add(static_cast<std::int64_t>(Limits::piece)).add("died_by_ms").add(ms_of(died_by));
    call(queue, std::move(function), std::move(arguments), deadline, Repeat::never, std::move(done),
         [](const Reply& reply) { return replies::sweep(reply); });
  }

  // Ack, fail and release change nothing the second time, as the first has ended the lease. So an
  // unknown one is sent again; where that says lease_lost, nobody can tell whether the first had
  // worked.
  void end_leases(const QueueName& queue, std::string function, Command arguments, std::size_t rows,
                  LeaseOutcome usual, Deadline deadline, Done<std::vector<LeaseOutcome>> done) {
    const auto parse = [rows, usual](const Reply& reply) {
      return replies::lease_outcomes(reply, rows, usual);
    };
    const auto settles = [parse](const Reply& reply) {
      const auto outcomes = parse(reply);
      return outcomes.ok() && std::count(outcomes.value().begin(), outcomes.value().end(),
                                         LeaseOutcome::lease_lost) == 0;
    };
    call(queue, std::move(function), std::move(arguments), deadline, Repeat::safe, std::move(done),
         parse, settles);
  }

  void forget_registration(const QueueName& queue) {
    const std::lock_guard lock(mutex_);
    known_[queue].register_at = {};
  }

  std::shared_ptr<redis::Topology> topology_;
  std::shared_ptr<Library> library_;
  std::string process_name_;
  std::shared_ptr<ExpiryListeners> expiry_;
  std::shared_ptr<ClockWatch> clock_;
  std::mutex mutex_;
  std::unordered_map<QueueName, Known> known_;
};

}  // namespace

std::shared_ptr<Engine> make_function_engine(redis::Io& io,
                                             std::shared_ptr<redis::Topology> topology,
                                             FunctionEngineOptions options) {
  return std::make_shared<FunctionEngine>(io, std::move(topology), std::move(options));
}

}  // namespace duly
