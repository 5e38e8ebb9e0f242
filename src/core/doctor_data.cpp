#include <algorithm>
#include <string>

#include "src/core/doctor_checks.h"

// What becomes of the data: kept over a crash, and while memory is short.

namespace duly::core {
namespace {

std::optional<std::string> policy_of(const ServerFacts& facts) {
  auto policy = facts.info.text("maxmemory_policy");
  return policy ? policy : facts.config.text("maxmemory-policy");
}

/// Few jobs are stored in another form than many.
bool is_measured(const ServerFacts& facts) {
  constexpr std::uint64_t kEnough = 1'000;
  return facts.waiting >= kEnough && facts.waiting_bytes.value_or(0) >= facts.waiting;
}

std::uint64_t bytes_per_job(const ServerFacts& facts) {
  constexpr std::uint64_t kDocumented = 330;  // docs/operations.md, Memory: payload of 100 bytes
  return is_measured(facts) ? *facts.waiting_bytes / facts.waiting : kDocumented;
}

std::optional<std::uint64_t> most_memory(const ServerFacts& facts) {
  const auto most = facts.info.number("maxmemory");
  return most ? most : facts.config.number("maxmemory");
}

std::string mib(std::uint64_t bytes) { return std::to_string(bytes / (1024UL * 1024)) + " MiB"; }

}  // namespace

namespace doctor {

Check persistence(const ServerFacts& facts) {
  auto aof = facts.info.text("aof_enabled");
  if (!aof) aof = facts.config.text("appendonly");
  if (!aof) return unknown("persistence", facts.info, kReadInfo);
  const auto fsync = facts.config.text("appendfsync");
  const auto save = facts.config.text("save");
  if (is_on(aof)) {
    if (!fsync) {
      return {"persistence", Verdict::unknown, "appendonly",
              "how often it is synced is not told: " + facts.config.refused, kReadConfig};
    }
    const std::string found = "appendonly, appendfsync " + *fsync;
    if (*fsync == "always") return {"persistence", Verdict::ok, found, "a crash loses nothing"};
    if (*fsync == "everysec") {
      return {"persistence", Verdict::ok, found, "a crash of the machine can lose about a second"};
    }
    return {"persistence", Verdict::warning, found,
            "a crash of the machine can lose what the system has not written, up to 30 s",
            "CONFIG SET appendfsync everysec"};
  }
  constexpr auto kAof = "CONFIG SET appendonly yes, and the same in redis.conf";
  if (!save) {
    return {"persistence", Verdict::threat, "no append-only file",
            "a crash loses all since the last snapshot, if there are any at all", kAof};
  }
  if (save->empty()) {
    return {"persistence", Verdict::threat, "none", "a restart of Redis loses every job", kAof};
  }
  return {"persistence", Verdict::threat, "snapshots only (save " + *save + ")",
          "a crash loses all since the last snapshot", kAof};
}

Check writing(const ServerFacts& facts) {
  const auto snapshot = facts.info.text("rdb_last_bgsave_status");
  const auto append = facts.info.text("aof_last_write_status");
  const auto rewrite = facts.info.text("aof_last_bgrewrite_status");
  if (!snapshot && !append) return unknown("writing", facts.info, kReadInfo);
  constexpr auto kLook = "look into Redis's log; is the disk full, or the folder not writable?";
  const std::string last = " of the last time: err";
  if (append && *append != "ok") {
    return {"writing", Verdict::threat, "append-only file" + last, "writes are refused or lost",
            kLook};
  }
  if (snapshot && *snapshot != "ok") {
    return {"writing", Verdict::threat, "snapshot" + last,
            "Redis refuses writes until one succeeds (stop-writes-on-bgsave-error)", kLook};
  }
  if (rewrite && *rewrite != "ok") {
    return {"writing", Verdict::warning, "rewrite of the append-only file" + last,
            "the file grows without end", kLook};
  }
  return {"writing", Verdict::ok, "no errors", "what is kept was last written well"};
}

Check eviction(const ServerFacts& facts) {
  const auto policy = policy_of(facts);
  if (!policy) return unknown("eviction", facts.info, kReadInfo);
  return judge_policy(policy);
}

Check evicted(const ServerFacts& facts) {
  const auto evicted = facts.info.number("evicted_keys");
  if (!evicted) return unknown("evicted", facts.info, kReadInfo);
  const std::string found = std::to_string(*evicted) + " keys";
  if (*evicted == 0) return {"evicted", Verdict::ok, found, "nothing was evicted since the start"};
  const std::string policy = policy_of(facts).value_or("allkeys-?");
  if (policy.starts_with("allkeys")) {
    return {"evicted", Verdict::threat, found, "whole queues may have been among them",
            "CONFIG SET maxmemory-policy noeviction; compare duly stats with what should be there"};
  }
  return {"evicted", Verdict::warning, found,
          "evicted since the start of Redis; duly's jobs only if the policy was allkeys-* then",
          "find out who fills this Redis, and give duly one of its own"};
}

Check memory(const ServerFacts& facts) {
  const auto used = facts.info.number("used_memory");
  const auto most = most_memory(facts);
  if (!used || !most) return unknown("memory", facts.info, kReadInfo);
  constexpr std::uint64_t kFull = 80;  // percent
  if (*most > 0) {
    const std::uint64_t percent = *used * 100 / *most;
    const std::string found =
        mib(*used) + " of " + mib(*most) + " (" + std::to_string(percent) + " %)";
    if (percent < kFull) return {"memory", Verdict::ok, found, "room is left"};
    return {"memory", Verdict::warning, found,
            "when it is full puts end with out_of_memory; claims and acks go on",
            "drain queues, purge dead letters, or raise maxmemory"};
  }
  const auto machine = facts.info.number("total_system_memory").value_or(0);
  const std::string found = mib(*used) + ", maxmemory 0";
  if (machine > 0 && *used * 100 / machine >= kFull) {
    return {"memory", Verdict::warning, found,
            "the machine's " + mib(machine) + " are nearly used, and nothing limits Redis",
            "CONFIG SET maxmemory, below the machine's memory"};
  }
  return {"memory", Verdict::ok, found, "no limit but the machine's " + mib(machine)};
}

Check forecast(const ServerFacts& facts) {
  const std::uint64_t each = bytes_per_job(facts);
  const std::string found = std::to_string(each) + " bytes a waiting job";
  const std::string source =
      is_measured(facts) ? "measured over " + std::to_string(facts.waiting) + " jobs"
                         : "as documented for 100 bytes of payload; too few here to measure";
  const auto used = facts.info.number("used_memory");
  auto most = most_memory(facts);
  if (!used || !most) {
    return {"forecast", Verdict::unknown, found, source + "; how much room is left is not told",
            kReadInfo};
  }
  std::string limit = "maxmemory";
  if (*most == 0) {
    most = facts.info.number("total_system_memory").value_or(0);
    limit = "the machine's memory";
  }
  const std::uint64_t counted =
      *used - std::min(*used, facts.info.number("mem_not_counted_for_evict").value_or(0));
  const std::uint64_t room = *most > counted ? (*most - counted) / each : 0;
  return {"forecast", Verdict::ok, found,
          source + "; about " + std::to_string(room) + " more fit under " + limit};
}

}  // namespace doctor

Check judge_policy(std::optional<std::string> policy) {
  Check check{"eviction", Verdict::ok, "maxmemory-policy " + policy.value_or("unknown"),
              "a full Redis refuses puts and loses nothing"};
  if (!policy) {
    check.verdict = Verdict::unknown;
    check.reason = "the server does not tell it";
    check.advice = doctor::kReadInfo;
  } else if (policy->starts_with("volatile-")) {
    check.verdict = Verdict::warning;
    check.reason = "evicts keys with a lifetime; duly gives none to jobs, others here may lose";
    check.advice = "CONFIG SET maxmemory-policy noeviction";
  } else if (*policy != "noeviction") {
    check.verdict = Verdict::threat;
    check.reason = "a full Redis deletes waiting jobs, whole queues at a time";
    check.advice = "CONFIG SET maxmemory-policy noeviction";
  }
  return check;
}

}  // namespace duly::core
