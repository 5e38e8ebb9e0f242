#include "src/core/doctor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include "src/core/doctor_checks.h"

namespace duly::core {

using doctor::is_on;
using doctor::kReadInfo;
using doctor::unknown;

namespace {

constexpr std::chrono::seconds kMostSkew{2};
constexpr std::chrono::milliseconds kSlowPing{10};  // The median; half of all calls wait longer.
constexpr std::chrono::milliseconds kSlowestPings{50};
constexpr auto kGrantRights = "grant what docs/protocol.md, Rights, lists";
constexpr std::uint64_t kClientsFull = 80;  // percent of maxclients

std::string ms_text(std::chrono::nanoseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f ms",
                std::chrono::duration<double, std::milli>(time).count());
  return text.data();
}

std::pair<int, int> major_minor(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, bad] = std::from_chars(version.data(), end, major);
  if (bad == std::errc{} && dot != end) std::from_chars(dot + 1, end, minor);
  return {major, minor};
}

Check check_version(const ServerFacts& facts) {
  const auto version = facts.info.text("redis_version");
  if (!version) return unknown("version", facts.info, kReadInfo);
  const auto valkey = facts.info.text("valkey_version");
  Check check{"version", Verdict::ok, valkey ? "Valkey " + *valkey : "Redis " + *version,
              "has functions"};
  const auto [major, minor] = major_minor(*version);
  if (major < 6 || (major == 6 && minor < 2)) {
    check.verdict = Verdict::threat;
    check.reason = "older than 6.2, which duly needs";
    check.advice = "upgrade the server to Redis 7 or later, or Valkey";
  } else if (major < 7) {
    check.reason = "has no functions; duly works through EVALSHA";
  }
  return check;
}

Check check_role(const ServerFacts& facts) {
  const auto role = facts.info.text("role");
  if (!role) return unknown("role", facts.info, kReadInfo);
  if (is_on(facts.info.text("cluster_enabled"))) {
    return {"role", Verdict::threat, "cluster node", "duly does not speak to Redis Cluster yet",
            "use a standalone Redis"};
  }
  if (*role != "master") {
    return {"role", Verdict::threat, *role, "a replica refuses writes", "connect to its master"};
  }
  return {"role", Verdict::ok, *role, "takes writes"};
}

bool has_scripts(const ServerFacts& facts) {
  return std::any_of(facts.rights.begin(), facts.rights.end(), [](const Right& right) {
    return right.command == "evalsha" && right.finding == Right::Finding::granted;
  });
}

Check check_library(const ServerFacts& facts) {
  if (!facts.library_refused.empty()) {
    return {"library", Verdict::unknown, "-", facts.library_refused, kGrantRights};
  }
  Check check{"library", Verdict::ok, facts.by_functions ? "none" : "EVALSHA",
              "the first command loads " + facts.our_library};
  if (!facts.by_functions && !has_scripts(facts)) {
    return {"library", Verdict::unknown, "-", "neither FCALL nor EVALSHA is seen to be granted",
            kGrantRights};
  }
  if (!facts.by_functions) {
    check.reason = "no functions here, or not for this user; batches cost the same by EVALSHA";
    return check;
  }
  if (facts.library.empty()) return check;
  check.found = facts.library + " by FCALL";
  const auto theirs = major_minor(facts.library);
  const auto ours = major_minor(facts.our_library);
  if (theirs.first > ours.first) {
    check.verdict = Verdict::threat;
    check.reason = "of a later major version than this program, " + facts.our_library;
    check.advice = "upgrade this program";
  } else {
    check.reason = facts.library == facts.our_library ? "that of this program"
                                                      : "works with " + facts.our_library;
  }
  return check;
}

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// The way by functions and that by scripts: one of them is enough.
bool is_of_functions(std::string_view command) {
  return command == "fcall" || command == "fcall_ro" || command == "function|load";
}
bool is_of_scripts(std::string_view command) {
  return command == "evalsha" || command == "script|load";
}

Check check_rights(const ServerFacts& facts) {
  std::vector<std::string> missing;
  std::vector<std::string> keys;
  std::size_t granted = 0;
  std::size_t unseen = 0;
  bool has_functions = true;
  bool has_scripts = true;
  for (const Right& right : facts.rights) {
    const bool is_granted = right.finding == Right::Finding::granted;
    if (is_granted) ++granted;
    if (is_of_functions(right.command)) has_functions = has_functions && is_granted;
    if (is_of_scripts(right.command)) has_scripts = has_scripts && is_granted;
    if (right.finding == Right::Finding::no_command) missing.push_back("+" + right.command);
    if (right.finding == Right::Finding::no_key) keys.push_back(right.command);
    if (right.finding == Right::Finding::unknown) ++unseen;
  }
  // What only the other way needs is not missed.
  std::erase_if(missing, [&](const std::string& word) {
    const std::string_view command = std::string_view(word).substr(1);
    return (has_functions && is_of_scripts(command)) || (has_scripts && is_of_functions(command));
  });
  const std::string found =
      std::to_string(granted) + " of " + std::to_string(facts.rights.size()) + " commands";
  if (!missing.empty()) {
    return {"rights", Verdict::threat, found, "not granted: " + list_of(missing),
            "grant them with ACL SETUSER: docs/protocol.md, Rights"};
  }
  if (granted == 0) {
    return {"rights", Verdict::unknown, found, "the server lets nobody ask",
            "compare with docs/protocol.md, Rights"};
  }
  if (!keys.empty()) {
    return {"rights", Verdict::warning, found,
            "not all keys and channels duly:* are granted; fine for a user of certain queues only",
            "else grant ~duly:* and &duly:*"};
  }
  return {"rights", Verdict::ok, found,
          unseen == 0 ? "all that duly needs" : "all that this server knows"};
}

Check check_clock(const ServerFacts& facts) {
  if (!facts.ahead) {
    return {"clock", Verdict::unknown, "-", "TIME is not granted", "grant +time to this user"};
  }
  const bool is_ahead = facts.ahead->count() >= 0;
  const auto skew = is_ahead ? *facts.ahead : -*facts.ahead;
  const std::string found =
      "this machine " + ms_text(skew) + (is_ahead ? " ahead of Redis" : " behind Redis");
  if (skew <= kMostSkew) return {"clock", Verdict::ok, found, "jobs follow Redis's clock alone"};
  return {"clock", Verdict::warning, found,
          "due times that programs here reckon by their own clock are off by so much",
          "let NTP keep both clocks; delays (--in) are not concerned"};
}

Check check_latency(const ServerFacts& facts) {
  if (facts.pings.empty()) {
    return {"latency", Verdict::unknown, "-", "PING is not granted", "grant +ping to this user"};
  }
  auto sorted = facts.pings;
  std::sort(sorted.begin(), sorted.end());
  const auto p50 = sorted[(sorted.size() - 1) / 2];
  const auto p99 = sorted[(sorted.size() - 1) * 99 / 100];
  const std::string found = "p50 " + ms_text(p50) + ", p99 " + ms_text(p99);
  const std::string reason = "of " + std::to_string(sorted.size()) + " pings";
  if (p50 <= kSlowPing && p99 <= kSlowestPings) return {"latency", Verdict::ok, found, reason};
  return {"latency", Verdict::warning, found, reason + "; jobs start later by about as much",
          "run workers nearer to Redis; look at SLOWLOG GET and at the machine's load"};
}

Check check_clients(const ServerFacts& facts) {
  const auto clients = facts.info.number("connected_clients");
  auto most = facts.info.number("maxclients");
  if (!most) most = facts.config.number("maxclients");
  if (!clients || !most || *most == 0) return unknown("clients", facts.info, kReadInfo);
  const std::string found = std::to_string(*clients) + " of " + std::to_string(*most);
  if (*clients * 100 / *most < kClientsFull) {
    return {"clients", Verdict::ok, found, "each duly process takes two"};
  }
  return {"clients", Verdict::warning, found, "at the limit new workers are turned away",
          "raise maxclients, or look for leaks with CLIENT LIST"};
}

}  // namespace

std::optional<std::string> Table::text(std::string_view name) const {
  const auto found = values.find(name);
  if (found == values.end()) return {};
  return found->second;
}

std::optional<std::uint64_t> Table::number(std::string_view name) const {
  const auto found = values.find(name);
  if (found == values.end()) return {};
  std::uint64_t number = 0;
  const std::string& text = found->second;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (bad != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::warning:
      return "warning";
    case Verdict::threat:
      return "threat";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

namespace doctor {

Check unknown(std::string name, const Table& table, std::string advice) {
  return {std::move(name), Verdict::unknown, "-",
          table.refused.empty() ? "the server does not tell it" : table.refused, std::move(advice)};
}

}  // namespace doctor

std::vector<Check> diagnose(const ServerFacts& facts) {
  return {check_version(facts),    check_role(facts),          check_library(facts),
          check_rights(facts),     doctor::persistence(facts), doctor::writing(facts),
          doctor::eviction(facts), doctor::evicted(facts),     doctor::memory(facts),
          doctor::forecast(facts), check_clients(facts),       check_clock(facts),
          check_latency(facts)};
}

}  // namespace duly::core
