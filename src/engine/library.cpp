#include "src/engine/library.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace duly {
namespace {

using redis::Command;
using redis::Ending;
using redis::Reaction;
using redis::Reply;
using redis::SteadyTime;
using redis::Trouble;

// Between two tries of a call that Redis could not take yet.
constexpr std::chrono::milliseconds kPause{20};

bool is_missing(const Reply& reply) {
  return reply.is_error() && redis::reaction_to(reply) == Reaction::load;
}

// The server has no functions, or does not grant them to us.
bool is_without_functions(const Reply& reply) {
  if (!reply.is_error()) return false;
  const Trouble trouble = redis::trouble_of(reply);
  return trouble == Trouble::no_permission || trouble == Trouble::unknown_command;
}

std::array<int, 3> parse_version(std::string_view text) {
  std::array<int, 3> parts{};
  for (int& part : parts) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part);
    text.remove_prefix(std::min(text.size(), static_cast<std::size_t>(end - text.data()) + 1));
  }
  return parts;
}

Error not_done(const std::string& reason) { return {ErrorCode::unavailable, reason}; }

Error closed() { return {ErrorCode::unavailable, "connection: closed, expected an open one"}; }

// What is asked of the server itself goes where the set of queue names is.
constexpr std::string_view kRoute = "duly:queues";

}  // namespace

Error error_of(const Reply& reply) {
  const redis::TroubleRow& row = redis::row_of(redis::trouble_of(reply));
  if (row.trouble == Trouble::invalid) {
    return {row.code, reply.text.substr(std::min(reply.text.size(), row.name.size() + 1))};
  }
  return {row.code, "redis: " + reply.text};
}

struct Library::Pending {
  Call call;
  Done<Reply> done;
  std::unique_ptr<redis::Io::Timer> timer{};
  // Why the outcome of an earlier try is unknown; empty: no try can have done anything.
  std::string unknown{};
  bool has_loaded = false;
};

// Ends a call without success. What an earlier try may have done is not undone by the last one.
void Library::end(const Pending& pending, const Error& error) {
  if (pending.unknown.empty()) return pending.done(error);
  pending.done(Error(ErrorCode::outcome_unknown, pending.unknown));
}

Library::Library(redis::Io& io, std::shared_ptr<redis::Topology> topology,
                 const std::vector<LibraryPart>& parts, std::string version)
    : io_(io),
      topology_(std::move(topology)),
      functions_(function_text(parts)),
      script_(script_text(parts)),
      version_(std::move(version)) {}

void Library::call(Call call, Done<Reply> done) {
  send(std::make_shared<Pending>(Pending{std::move(call), std::move(done)}));
}

void Library::plain(Command command, SteadyTime deadline, Done<Reply> done) {
  call({.function = {},
        .route = std::string(kRoute),
        .arguments = std::move(command),
        .deadline = deadline,
        .repeat = Repeat::read},
       std::move(done));
}

void Library::send(std::shared_ptr<Pending> pending) {
  if (pending->call.function.empty()) {
    return send_command(std::move(pending), Command(pending->call.arguments));
  }
  const std::uint64_t checked = checked_.load(std::memory_order_acquire);
  if (checked == 0 || checked != topology_->generation()) {
    const SteadyTime deadline = pending->call.deadline;
    io_.post([weak = weak_from_this(), pending = std::move(pending), deadline] {
      const auto self = weak.lock();
      if (!self) return end(*pending, closed());
      self->check(deadline, [weak, pending](const std::optional<Error>& error) {
        const auto still = weak.lock();
        if (error || !still) return end(*pending, error ? *error : closed());
        still->send(pending);
      });
    });
    return;
  }
  const Call& call = pending->call;
  Command command;
  command.reserve(call.keys.bytes() + call.arguments.bytes() + 128);
  const bool by_functions = by_functions_.load(std::memory_order_relaxed);
  if (by_functions) {
    command.add("FCALL").add(call.function);
  } else {
    command.add("EVALSHA").add(sha_);
  }
  command.add(static_cast<std::int64_t>(call.keys.count())).append(call.keys);
  if (!by_functions) command.add(call.function);
  command.append(call.arguments);
  send_command(std::move(pending), std::move(command));
}

void Library::send_command(std::shared_ptr<Pending> pending, Command command) {
  const std::string& route = pending->call.route;
  const SteadyTime deadline = pending->call.deadline;
  topology_->send(route, std::move(command), deadline,
                  [weak = weak_from_this(), pending = std::move(pending)](Ending ending) {
                    const auto self = weak.lock();
                    if (!self) return end(*pending, closed());
                    self->on_ending(pending, std::move(ending));
                  });
}

void Library::on_ending(const std::shared_ptr<Pending>& pending, Ending ending) {
  const bool has_function = !pending->call.function.empty();
  switch (ending.kind) {
    case Ending::Kind::not_done:
      return end(*pending, not_done(ending.reason));
    case Ending::Kind::unknown:
      if (pending->call.repeat != Repeat::read) pending->unknown = ending.reason;
      if (pending->call.repeat != Repeat::never &&
          redis::row_of(ending.trouble).reaction != Reaction::end &&
          pending->call.deadline - std::chrono::steady_clock::now() > kPause) {
        return send(pending);
      }
      return end(*pending, not_done(ending.reason));
    case Ending::Kind::done:
      break;
  }
  if (!ending.reply.is_error()) {
    const auto& settles = pending->call.settles;
    if (!pending->unknown.empty() && settles && !settles(ending.reply)) {
      return pending->done(Error(ErrorCode::outcome_unknown, pending->unknown));
    }
    return pending->done(std::move(ending.reply));
  }
  switch (redis::reaction_to(ending.reply)) {
    case Reaction::wait:
    case Reaction::reconnect:  // The topology has seen to it.
      return send_later(pending, ending.reply.text);
    case Reaction::load:
      if (!has_function) break;
      checked_.store(0, std::memory_order_release);
      // A library without our function, that somebody brings again and again, is no reason to spin.
      if (std::exchange(pending->has_loaded, true)) return send_later(pending, ending.reply.text);
      return send(pending);
    case Reaction::end:
      break;
  }
  if (has_function) return end(*pending, error_of(ending.reply));
  pending->done(std::move(ending.reply));
}

void Library::send_later(const std::shared_ptr<Pending>& pending, const std::string& reason) {
  const SteadyTime now = std::chrono::steady_clock::now();
  if (now + kPause >= pending->call.deadline) return end(*pending, not_done("redis: " + reason));
  if (!pending->timer) pending->timer = io_.make_timer();
  pending->timer->arm(now + kPause, [weak = weak_from_this(), pending] {
    if (const auto self = weak.lock()) self->send(pending);
  });
}

void Library::check(SteadyTime deadline, Continue then) {
  if (const std::uint64_t checked = checked_; checked != 0 && checked == topology_->generation()) {
    return then({});
  }
  waiting_.push_back({deadline, std::move(then)});
  if (waiting_.size() == 1) ask_version(deadline);
}

void Library::checked(const std::optional<Error>& error) {
  // What was true of the server that answered need not be true of another one.
  if (!error) checked_.store(asked_generation_, std::memory_order_release);
  const SteadyTime now = std::chrono::steady_clock::now();
  std::vector<Waiter> ended;
  std::vector<Waiter> patient;  // the time of the one who asked was over, not theirs
  for (Waiter& waiter : std::exchange(waiting_, {})) {
    const bool is_over = !error || error->code() != ErrorCode::unavailable || ended.empty() ||
                         waiter.deadline <= now + kPause;
    (is_over ? ended : patient).push_back(std::move(waiter));
  }
  waiting_ = std::move(patient);
  if (!waiting_.empty()) ask_version(waiting_.front().deadline);
  for (const Waiter& waiter : ended) waiter.then(error);
}

// Sends a command of the check; an ending that stops it ends the check.
void Library::ask(Command command, SteadyTime deadline,
                  void (Library::*on_reply)(const Reply&, SteadyTime)) {
  plain(std::move(command), deadline,
        [weak = weak_from_this(), deadline, on_reply](const Result<Reply>& result) {
          const auto self = weak.lock();
          if (!self) return;
          // The call itself has not left.
          if (!result.ok()) return self->checked(not_done(result.error().what()));
          (*self.*on_reply)(result.value(), deadline);
        });
}

void Library::ask_version(SteadyTime deadline) {
  ask(Command{"FCALL", "duly_version", "0"}, deadline, &Library::on_version);
}

void Library::on_version(const Reply& reply, SteadyTime deadline) {
  asked_generation_ = topology_->generation();
  if (is_missing(reply)) return load_functions(deadline);
  if (is_without_functions(reply)) return load_script(deadline);
  if (reply.is_error()) return checked(error_of(reply));
  if (reply.items.size() != 2 || reply.items[0].text != "version") {
    return checked(Error(ErrorCode::incompatible, "library duly in redis: no version, expected " +
                                                      version_ +
                                                      "; another library has taken the name"));
  }
  const auto theirs = parse_version(reply.items[1].text);
  const auto ours = parse_version(version_);
  if (theirs[0] > ours[0]) {
    return checked(
        Error(ErrorCode::incompatible, "library duly in redis: version " + reply.items[1].text +
                                           ", expected major version " + std::to_string(ours[0]) +
                                           "; upgrade this program"));
  }
  if (theirs < ours) return load_functions(deadline);
  by_functions_ = true;
  checked({});
}

void Library::load_functions(SteadyTime deadline) {
  ask(Command{"FUNCTION", "LOAD", "REPLACE", functions_}, deadline, &Library::on_functions);
}

void Library::on_functions(const Reply& reply, SteadyTime deadline) {
  // A full Redis takes no functions, but takes scripts: it can be drained by them.
  const bool is_full = reply.is_error() && redis::trouble_of(reply) == Trouble::out_of_memory;
  if (is_full || is_without_functions(reply)) return load_script(deadline);
  if (reply.is_error()) return checked(error_of(reply));
  by_functions_ = true;
  checked({});
}

void Library::load_script(SteadyTime deadline) {
  ask(Command{"SCRIPT", "LOAD", script_}, deadline, &Library::on_script);
}

void Library::on_script(const Reply& reply, SteadyTime) {
  if (reply.is_error()) return checked(error_of(reply));
  // The same text has the same digest, so it is written once, before anybody reads it.
  if (sha_.empty()) sha_ = reply.text;
  by_functions_ = false;
  checked({});
}

void Library::info(SteadyTime deadline, Done<LibraryInfo> done) {
  plain(Command{"FCALL", "duly_version", "0"}, deadline,
        [ours = version_, done = std::move(done)](const Result<Reply>& result) {
          if (!result.ok()) return done(result.error());
          LibraryInfo info{.version = "", .ours = ours, .by_functions = true};
          const Reply& reply = result.value();
          if (!reply.is_error() && reply.items.size() == 2) {
            info.version = reply.items[1].text;
          } else if (is_without_functions(reply)) {
            info.by_functions = false;
          } else if (!is_missing(reply)) {
            return done(error_of(reply));
          }
          done(std::move(info));
        });
}

void Library::load(SteadyTime deadline, Done<Nothing> done) {
  io_.post([weak = weak_from_this(), deadline, done = std::move(done)] {
    const auto self = weak.lock();
    if (!self) return done(closed());
    self->checked_ = 0;
    self->check(deadline, [done](const std::optional<Error>& error) {
      if (error) return done(*error);
      done(Nothing{});
    });
  });
}

}  // namespace duly
