#include "src/engine/library.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace duly {
namespace {

using redis::Command;
using redis::Ending;
using redis::Reply;
using redis::SteadyTime;

// Between two tries of a call that Redis could not take yet.
constexpr std::chrono::milliseconds kPause{20};

struct Reaction {
  std::string_view word;
  ErrorCode code;
  bool is_passing;  // wait and send again, within the deadline
};

// The first word of an error reply decides. All of these mean that nothing happened.
constexpr std::array kReactions{
    Reaction{"LOADING", ErrorCode::unavailable, true},
    Reaction{"BUSY", ErrorCode::unavailable, true},
    Reaction{"TRYAGAIN", ErrorCode::unavailable, true},
    Reaction{"MASTERDOWN", ErrorCode::unavailable, true},
    Reaction{"CLUSTERDOWN", ErrorCode::unavailable, true},
    Reaction{"READONLY", ErrorCode::unavailable, false},
    Reaction{"MISCONF", ErrorCode::unavailable, false},
    Reaction{"NOREPLICAS", ErrorCode::unavailable, false},
    Reaction{"NOAUTH", ErrorCode::unavailable, false},
    Reaction{"NOPERM", ErrorCode::unavailable, false},
    Reaction{"OOM", ErrorCode::out_of_memory, false},
    Reaction{"DULY_INVALID", ErrorCode::invalid_argument, false},
};

const Reaction* reaction_to(const Reply& reply) {
  const auto* const found =
      std::find_if(kReactions.begin(), kReactions.end(),
                   [&](const Reaction& row) { return row.word == reply.error_word(); });
  return found == kReactions.end() ? nullptr : found;
}

bool is_missing_function(const Reply& reply) {
  return reply.is_error() && reply.text.find("Function not found") != std::string::npos;
}

bool is_missing_script(const Reply& reply) { return reply.error_word() == "NOSCRIPT"; }

// The server has no functions, or does not grant them to us.
bool is_without_functions(const Reply& reply) {
  return reply.error_word() == "NOPERM" || reply.text.find("unknown command") != std::string::npos;
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
  const Reaction* const row = reaction_to(reply);
  if (row == nullptr) return {ErrorCode::internal, "redis: " + reply.text};
  if (row->code == ErrorCode::invalid_argument) {
    return {row->code, reply.text.substr(std::min(reply.text.size(), row->word.size() + 1))};
  }
  return {row->code, "redis: " + reply.text};
}

struct Library::Pending {
  Call call;
  Done<Reply> done;
  std::unique_ptr<redis::Io::Timer> timer{};
};

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

void Library::send(std::shared_ptr<Pending> pending) {
  const std::uint64_t checked = checked_.load(std::memory_order_acquire);
  if (checked == 0 || checked != topology_->generation()) {
    const SteadyTime deadline = pending->call.deadline;
    io_.post([weak = weak_from_this(), pending = std::move(pending), deadline] {
      const auto self = weak.lock();
      if (!self) return pending->done(closed());
      self->check(deadline, [weak, pending](const std::optional<Error>& error) {
        const auto still = weak.lock();
        if (error || !still) return pending->done(error ? *error : closed());
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
  const std::string& route = call.route;
  const SteadyTime deadline = call.deadline;
  topology_->send(route, std::move(command), deadline,
                  [weak = weak_from_this(), pending = std::move(pending)](Ending ending) {
                    const auto self = weak.lock();
                    if (!self) return pending->done(closed());
                    self->on_ending(pending, std::move(ending));
                  });
}

void Library::on_ending(const std::shared_ptr<Pending>& pending, Ending ending) {
  switch (ending.kind) {
    case Ending::Kind::not_done:
      return pending->done(not_done(ending.reason));
    case Ending::Kind::unknown:
      if (pending->call.repeat == Repeat::safe &&
          pending->call.deadline - std::chrono::steady_clock::now() > kPause) {
        return send(pending);
      }
      return pending->done(Error(ErrorCode::outcome_unknown, ending.reason));
    case Ending::Kind::done:
      break;
  }
  if (!ending.reply.is_error()) return pending->done(std::move(ending.reply));
  if (is_missing_function(ending.reply) || is_missing_script(ending.reply)) {
    checked_.store(0, std::memory_order_release);
    return send(pending);
  }
  const Reaction* const row = reaction_to(ending.reply);
  if (row != nullptr && row->is_passing) return send_later(pending, ending.reply.text);
  pending->done(error_of(ending.reply));
}

void Library::send_later(const std::shared_ptr<Pending>& pending, const std::string& reason) {
  const SteadyTime now = std::chrono::steady_clock::now();
  if (now + kPause >= pending->call.deadline) return pending->done(not_done("redis: " + reason));
  if (!pending->timer) pending->timer = io_.make_timer();
  pending->timer->arm(now + kPause, [weak = weak_from_this(), pending] {
    if (const auto self = weak.lock()) self->send(pending);
  });
}

void Library::check(SteadyTime deadline, Continue then) {
  if (const std::uint64_t checked = checked_; checked != 0 && checked == topology_->generation()) {
    return then({});
  }
  waiting_.push_back(std::move(then));
  if (waiting_.size() == 1) ask_version(deadline);
}

void Library::checked(const std::optional<Error>& error) {
  if (!error) checked_.store(topology_->generation(), std::memory_order_release);
  for (const Continue& waiter : std::exchange(waiting_, {})) waiter(error);
}

// Sends a command of the check; an ending that stops it ends the check.
void Library::ask(Command command, SteadyTime deadline,
                  void (Library::*on_reply)(const Reply&, SteadyTime)) {
  topology_->send(kRoute, std::move(command), deadline,
                  [weak = weak_from_this(), deadline, on_reply](const Ending& ending) {
                    const auto self = weak.lock();
                    if (!self) return;
                    if (ending.kind != Ending::Kind::done)
                      return self->checked(not_done(ending.reason));
                    const Reaction* const row = reaction_to(ending.reply);
                    const SteadyTime again_at = std::chrono::steady_clock::now() + kPause;
                    if (row != nullptr && row->is_passing && again_at < deadline) {
                      if (!self->pause_) self->pause_ = self->io_.make_timer();
                      return self->pause_->arm(again_at, [weak, deadline] {
                        if (const auto still = weak.lock()) still->ask_version(deadline);
                      });
                    }
                    (*self.*on_reply)(ending.reply, deadline);
                  });
}

void Library::ask_version(SteadyTime deadline) {
  ask(Command{"FCALL", "duly_version", "0"}, deadline, &Library::on_version);
}

void Library::on_version(const Reply& reply, SteadyTime deadline) {
  if (is_missing_function(reply)) return load_functions(deadline);
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
  if (is_without_functions(reply)) return load_script(deadline);
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
  topology_->send(kRoute, Command{"FCALL", "duly_version", "0"}, deadline,
                  [ours = version_, done = std::move(done)](const Ending& ending) {
                    if (ending.kind != Ending::Kind::done) return done(not_done(ending.reason));
                    LibraryInfo info{.version = "", .ours = ours, .by_functions = true};
                    const Reply& reply = ending.reply;
                    if (!reply.is_error() && reply.items.size() == 2) {
                      info.version = reply.items[1].text;
                    } else if (is_without_functions(reply)) {
                      info.by_functions = false;
                    } else if (!is_missing_function(reply)) {
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
