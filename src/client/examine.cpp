#include "src/client/examine.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "src/client/await.h"
#include "src/client/rights.h"
#include "src/client/shared.h"
#include "src/engine/queue_keys.h"

namespace duly {
namespace {

using core::ServerFacts;
using redis::Command;
using redis::Ending;
using redis::Reply;

constexpr int kPings = 100;
constexpr int kClockLooks = 5;
constexpr std::size_t kMostQueues = 100;  // whose memory is measured
constexpr std::array kSettings{"appendonly", "appendfsync",      "save",
                               "maxmemory",  "maxmemory-policy", "maxclients"};

std::string one_line(std::string text) {
  text.erase(std::find_if(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; }),
             text.end());
  return text;
}

/// INFO's lines "name:value".
core::Table parse_info(const Reply& reply) {
  core::Table table;
  if (reply.is_error()) {
    table.refused = one_line(reply.text);
    return table;
  }
  std::string_view rest = reply.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    table.values.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
  return table;
}

std::optional<std::int64_t> integer(const Reply& reply) {
  if (reply.kind != Reply::Kind::integer) return {};
  return reply.integer;
}

class Examiner {
 public:
  explicit Examiner(std::shared_ptr<Connection::Shared> shared) : shared_(std::move(shared)) {}

  ServerFacts examine() {
    facts_.info = parse_info(ask({"INFO"}));
    look_at_settings();
    look_at_library();
    facts_.rights = look_at_rights([this](Command command) { return ask(std::move(command)); });
    look_at_queues();
    look_at_clock();
    measure_pings();
    return std::move(facts_);
  }

 private:
  Reply ask(Command command) const {
    return await<Reply>([&](const Done<Reply>& done) {
      shared_->topology->send(
          kQueuesKey, std::move(command), shared_->deadline(), [done](Ending ending) {
            if (ending.kind == Ending::Kind::done) return done(std::move(ending.reply));
            done(Error(ending.kind == Ending::Kind::not_done ? ErrorCode::unavailable
                                                             : ErrorCode::outcome_unknown,
                       ending.reason));
          });
    });
  }

  void look_at_settings() {
    for (const std::string_view name : kSettings) {
      const Reply reply = ask({"CONFIG", "GET", name});
      if (reply.is_error()) facts_.config.refused = one_line(reply.text);
      if (reply.items.size() == 2) {
        facts_.config.values.emplace(reply.items[0].text, reply.items[1].text);
      }
    }
  }

  void look_at_library() {
    try {
      const auto info = await<LibraryInfo>([&](Done<LibraryInfo> done) {
        shared_->engine->library(shared_->deadline(), std::move(done));
      });
      facts_.library = info.version;
      facts_.our_library = info.ours;
      facts_.by_functions = info.by_functions;
    } catch (const Error& error) {
      facts_.library_refused = one_line(error.what());
    }
  }

  void look_at_queues() {
    const Reply queues = ask({"SMEMBERS", kQueuesKey});
    std::uint64_t bytes = 0;
    bool is_told = true;
    for (std::size_t i = 0; i < std::min(queues.items.size(), kMostQueues); ++i) {
      const std::string tag = "duly:{" + queues.items[i].text + "}:";
      const auto waiting = integer(ask({"ZCARD", tag + "due"}));
      const auto records = integer(ask({"HLEN", tag + "jobs"}));
      if (!waiting || !records || *waiting == 0 || *records == 0) continue;
      const auto due_bytes = integer(ask({"MEMORY", "USAGE", tag + "due", "SAMPLES", "50"}));
      const auto job_bytes = integer(ask({"MEMORY", "USAGE", tag + "jobs", "SAMPLES", "50"}));
      if (!due_bytes || !job_bytes) is_told = false;
      facts_.waiting += static_cast<std::uint64_t>(*waiting);
      // Records of active and dead jobs lie in the same hash.
      const double part = static_cast<double>(*waiting) / static_cast<double>(*records);
      bytes += static_cast<std::uint64_t>(static_cast<double>(due_bytes.value_or(0)) +
                                          part * static_cast<double>(job_bytes.value_or(0)));
    }
    if (is_told) facts_.waiting_bytes = bytes;
  }

  // Redis read its clock about half-way between question and answer; of some, the quickest counts.
  void look_at_clock() {
    auto least = std::chrono::nanoseconds::max();
    for (int i = 0; i < kClockLooks; ++i) {
      const auto asked_at = std::chrono::steady_clock::now();
      const Reply reply = ask({"TIME"});
      const auto way = std::chrono::steady_clock::now() - asked_at;
      const std::chrono::nanoseconds ours = std::chrono::system_clock::now().time_since_epoch();
      if (reply.items.size() != 2 || way >= least) continue;
      least = way;
      const std::chrono::nanoseconds theirs =
          std::chrono::seconds{number(reply.items[0].text)} +
          std::chrono::microseconds{number(reply.items[1].text)};
      facts_.ahead = ours - way / 2 - theirs;
    }
  }

  void measure_pings() {
    for (int i = 0; i < kPings; ++i) {
      const auto asked_at = std::chrono::steady_clock::now();
      if (ask({"PING"}).is_error()) return;
      facts_.pings.push_back(std::chrono::steady_clock::now() - asked_at);
    }
  }

  static std::int64_t number(const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  std::shared_ptr<Connection::Shared> shared_;
  ServerFacts facts_{};
};

void warn_of(const Connection::Shared& shared, const std::optional<std::string>& policy) {
  const core::Check check = core::judge_policy(policy);
  if (check.verdict == core::Verdict::ok) return;
  if (check.verdict == core::Verdict::unknown) {
    return shared.log(LogLevel::debug, "maxmemory-policy: not told, expected noeviction");
  }
  const bool is_threat = check.verdict == core::Verdict::threat;
  shared.log(LogLevel::warning, std::string(is_threat ? "JOBS CAN BE LOST: " : "") + check.found +
                                    ", expected noeviction: " + check.reason + "; " + check.advice);
}

}  // namespace

ServerFacts examine(const Connection& connection) {
  return Examiner(connection.shared()).examine();
}

void warn_of_eviction(const std::shared_ptr<Connection::Shared>& shared) {
  if (shared->is_policy_asked.exchange(true)) return;
  const std::weak_ptr<Connection::Shared> weak = shared;
  shared->topology->send(
      kQueuesKey, Command{"INFO", "memory"}, shared->deadline(), [weak](const Ending& ending) {
        const auto self = weak.lock();
        if (!self || ending.kind != Ending::Kind::done) return;
        if (!ending.reply.is_error()) {
          return warn_of(*self, parse_info(ending.reply).text("maxmemory_policy"));
        }
        self->topology->send(
            kQueuesKey, Command{"CONFIG", "GET", "maxmemory-policy"}, self->deadline(),
            [weak](const Ending& second) {
              const auto still = weak.lock();
              if (!still || second.kind != Ending::Kind::done) return;
              const auto& items = second.reply.items;
              warn_of(*still, items.size() == 2 ? std::optional(items[1].text) : std::nullopt);
            });
      });
}

}  // namespace duly
