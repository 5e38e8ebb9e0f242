#include "src/engine/replies.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string>
#include <string_view>

#include "src/core/record.h"

namespace duly::replies {
namespace {

using redis::Reply;

Error unexpected(std::string_view function) {
  return {ErrorCode::internal,
          std::string(function) + ": reply is not of the form that docs/protocol.md gives"};
}

// Numbers come as integers, or as texts where Lua would round them.
std::int64_t number(const Reply& reply) {
  if (reply.kind == Reply::Kind::integer) return reply.integer;
  std::int64_t value = 0;
  std::from_chars(reply.text.data(), reply.text.data() + reply.text.size(), value);
  return value;
}

SystemTime time(const Reply& reply) { return SystemTime{Milliseconds{number(reply)}}; }

std::optional<SystemTime> optional_time(const Reply& reply) {
  const std::int64_t ms = number(reply);
  if (reply.kind != Reply::Kind::integer && reply.text.empty()) return {};
  return SystemTime{Milliseconds{ms}};
}

bool is_batch(const Reply& reply) {
  return reply.items.size() >= 3 && reply.items[0].text == "batch" && reply.items.size() % 3 == 0;
}

// Calls back for each row of a batch that is not as asked: index from 0, word, detail.
template <class Row>
bool each_exception(const Reply& reply, std::size_t rows, Row row) {
  for (std::size_t i = 3; i + 2 < reply.items.size(); i += 3) {
    const std::int64_t position = reply.items[i].integer;
    if (position < 1 || static_cast<std::size_t>(position) > rows) return false;
    row(static_cast<std::size_t>(position) - 1, reply.items[i + 1].text, reply.items[i + 2]);
  }
  return true;
}

template <class Outcome, std::size_t N>
std::optional<Outcome> word_of(const std::array<Outcome, N>& all, std::string_view word) {
  for (const Outcome outcome : all) {
    if (to_string(outcome) == word) return outcome;
  }
  return {};
}

void set(JobInfo& job, std::string_view name, const Reply& value) {
  const auto u32 = [&] { return static_cast<std::uint32_t>(number(value)); };
  const auto ms = [&] { return Milliseconds{number(value)}; };
  if (name == "id") job.id = JobId(value.text);
  if (name == "type") job.type = value.text;
  if (name == "payload") job.payload = value.text;
  if (name == "unreadable") job.is_readable = false;
  if (name == "failures") job.failures = u32();
  if (name == "lost_leases") job.lost_leases = u32();
  if (name == "max_attempts") job.max_attempts = u32();
  if (name == "priority") job.priority = u32();
  if (name == "result") job.result = value.text;
  if (name == "done_at_ms") job.done_at = optional_time(value);
  if (name == "last_error") job.last_error = value.text;
  if (name == "put_at_ms") job.put_at = time(value);
  if (name == "due_at_ms") job.due_at = optional_time(value);
  if (name == "died_at_ms") job.died_at = optional_time(value);
  if (name == "last_failed_at_ms" && number(value) > 0) job.last_failed_at = time(value);
  if (name == "lease_ms") job.lease = ms();
  if (name == "timeout_ms") job.timeout = ms();
  if (name == "backoff_base_ms") job.backoff.base = ms();
  if (name == "backoff_cap_ms") job.backoff.cap = ms();
  if (name == "backoff_factor_milli")
    job.backoff.factor = static_cast<double>(number(value)) / 1000;
  if (name == "backoff_jitter_percent")
    job.backoff.jitter = static_cast<double>(number(value)) / 100;
  if (name == "backoff" && value.text == "fixed") job.backoff.kind = Backoff::Kind::fixed;
  if (name == "state") {
    static constexpr std::array kAll{JobState::scheduled, JobState::ready, JobState::active,
                                     JobState::done, JobState::dead};
    job.state = word_of(kAll, value.text).value_or(JobState::scheduled);
  }
  if (name == "reason") {
    static constexpr std::array kAll{DeadReason::failed, DeadReason::given_up,
                                     DeadReason::quarantined, DeadReason::unreadable};
    job.dead_reason = word_of(kAll, value.text);
  }
}

std::optional<JobInfo> job_info(const Reply& row, const QueueName& queue) {
  if (row.items.empty()) return {};
  JobInfo job;
  job.queue = queue;
  for (std::size_t i = 0; i + 1 < row.items.size(); i += 2)
    set(job, row.items[i].text, row.items[i + 1]);
  return job;
}

std::uint64_t* total(QueueStats& stats, std::string_view name) {
  if (name == "put") return &stats.totals.put;
  if (name == "claimed") return &stats.totals.claimed;
  if (name == "acked") return &stats.totals.acked;
  if (name == "failed") return &stats.totals.failed;
  if (name == "lost_leases") return &stats.totals.lost_leases;
  if (name == "released") return &stats.totals.released;
  if (name == "died") return &stats.totals.died;
  if (name == "replayed") return &stats.totals.replayed;
  if (name == "purged") return &stats.totals.purged;
  if (name == "cancelled") return &stats.totals.cancelled;
  if (name == "dropped") return &stats.totals.dropped;
  if (name == "dead_dropped") return &stats.totals.dead_dropped;
  if (name == "done_expired") return &stats.totals.done_expired;
  if (name == "swept") return &stats.totals.swept;
  if (name == "repaired") return &stats.totals.repaired;
  if (name == "lateness_ms") return &stats.totals.lateness_ms;
  if (name == "scheduled") return &stats.scheduled;
  if (name == "ready") return &stats.ready;
  if (name == "active") return &stats.active;
  if (name == "dead") return &stats.dead;
  if (name == "done") return &stats.done;
  if (name == "dead_percent") return &stats.dead_percent;
  return nullptr;
}

std::uint64_t* import_count(ImportPiece& piece, std::string_view name) {
  if (name == "created") return &piece.created;
  if (name == "existed") return &piece.existed;
  if (name == "updated") return &piece.updated;
  if (name == "not_a_time") return &piece.not_a_time;
  if (name == "no_content") return &piece.no_content;
  if (name == "too_large") return &piece.too_large;
  if (name == "full") return &piece.full;
  if (name == "in_use") return &piece.in_use;
  if (name == "bytes") return &piece.bytes;
  if (name == "remaining") return &piece.remaining;
  return nullptr;
}

}  // namespace

Result<std::vector<PutResult>> put(const Reply& reply, const std::vector<NewJob>& jobs) {
  if (!is_batch(reply)) return unexpected("put");
  const SystemTime now = time(reply.items[1]);
  std::vector<PutResult> results;
  results.reserve(jobs.size());
  for (const NewJob& job : jobs) {
    results.push_back({.id = *job.id, .due_at = job.due_at ? *job.due_at : now + job.delay});
  }
  const bool is_well = each_exception(
      reply, jobs.size(), [&](std::size_t row, const std::string& word, const Reply& detail) {
        PutResult& result = results[row];
        result.due_at.reset();
        if (word == "exists") {
          result.outcome = PutOutcome::exists;
          result.due_at = optional_time(detail);
        } else if (word == "withheld") {
          result.outcome = PutOutcome::refused;
          result.error =
              Error(ErrorCode::invalid_argument,
                    "job: not stored, as another one of its all-or-nothing batch was not");
        } else {
          result.outcome = PutOutcome::refused;
          result.error = Error(
              word == "full" ? ErrorCode::unavailable : ErrorCode::invalid_argument, detail.text);
        }
      });
  if (!is_well) return unexpected("put");
  return results;
}

Result<ClaimReply> claim(Reply reply, const QueueName& queue, Milliseconds lease) {
  constexpr std::size_t kColumns = 5;
  if (reply.items.size() < 5 || reply.items[0].text != "jobs" ||
      reply.items[4].items.size() % kColumns != 0) {
    return unexpected("claim");
  }
  ClaimReply result;
  result.now = std::chrono::sys_time<std::chrono::microseconds>{
      std::chrono::microseconds{number(reply.items[1])}};
  const SystemTime now = std::chrono::floor<Milliseconds>(result.now);
  if (reply.items[2].integer >= 0)
    result.next_in = std::chrono::microseconds{reply.items[2].integer};
  result.is_parked = !reply.items[3].text.empty();
  result.is_keeper = reply.items[3].text == "keeper";
  if (reply.items.size() > 5) result.idle = static_cast<std::size_t>(reply.items[5].integer);
  std::vector<Reply>& cells = reply.items[4].items;
  result.jobs.reserve(cells.size() / kColumns);
  for (std::size_t i = 0; i < cells.size(); i += kColumns) {
    core::Record record;
    if (!core::unpack_record(cells[i + 4].text, record)) return unexpected("claim");
    result.jobs.push_back({.id = JobId(std::move(cells[i].text)),
                           .token = LeaseToken(std::move(cells[i + 2].text)),
                           .queue = queue,
                           .type = std::string(record.type),
                           .payload = std::string(record.payload),
                           .attempt = static_cast<std::uint32_t>(cells[i + 3].integer),
                           .max_attempts = record.max_attempts,
                           .due_at = time(cells[i + 1]),
                           .put_at = record.put_at,
                           .claimed_at = now,
                           .lease = record.lease > Milliseconds{0} ? record.lease : lease,
                           .timeout = record.timeout});
  }
  return result;
}

Result<std::vector<LeaseOutcome>> lease_outcomes(const Reply& reply, std::size_t rows,
                                                 LeaseOutcome usual) {
  static constexpr std::array kAll{LeaseOutcome::acked,     LeaseOutcome::failed,
                                   LeaseOutcome::dead,      LeaseOutcome::released,
                                   LeaseOutcome::extended,  LeaseOutcome::cancelled,
                                   LeaseOutcome::lease_lost};
  if (!is_batch(reply)) return unexpected(to_string(usual));
  std::vector<LeaseOutcome> outcomes(rows, usual);
  bool is_known = true;
  const bool is_well =
      each_exception(reply, rows, [&](std::size_t row, const std::string& word, const Reply&) {
        const auto outcome = word_of(kAll, word);
        is_known = is_known && outcome.has_value();
        outcomes[row] = outcome.value_or(LeaseOutcome::lease_lost);
      });
  if (!is_well || !is_known) return unexpected(to_string(usual));
  return outcomes;
}

Result<std::vector<ExtendResult>> extend(const Reply& reply, const std::vector<ExtendRow>& rows) {
  if (!is_batch(reply)) return unexpected("extend");
  std::vector<ExtendResult> results(rows.size());
  bool is_known = true;
  const bool is_well = each_exception(
      reply, rows.size(), [&](std::size_t row, const std::string& word, const Reply& detail) {
        is_known = is_known && (word == "asked" || word == "lease_lost");
        if (word != "asked") {
          results[row].outcome = LeaseOutcome::lease_lost;
          return;
        }
        std::istringstream ids(detail.text);
        for (std::string id; ids >> id;) {
          results[row].cancelled.emplace_back(id);
          if (results[row].cancelled.back() == rows[row].held.id) {
            results[row].outcome = LeaseOutcome::cancelled;
          }
        }
      });
  if (!is_well || !is_known) return unexpected("extend");
  return results;
}

Result<std::vector<ChangeOutcome>> change_outcomes(const Reply& reply, std::size_t rows) {
  static constexpr std::array kAll{ChangeOutcome::done, ChangeOutcome::asked,
                                   ChangeOutcome::not_found, ChangeOutcome::wrong_state};
  if (!is_batch(reply)) return unexpected("change");
  std::vector<ChangeOutcome> outcomes(rows, ChangeOutcome::done);
  std::optional<Error> refused;
  const bool is_well = each_exception(
      reply, rows, [&](std::size_t row, const std::string& word, const Reply& detail) {
        const auto outcome = word_of(kAll, word);
        if (!outcome) refused = Error(ErrorCode::invalid_argument, detail.text);
        outcomes[row] = outcome.value_or(ChangeOutcome::not_found);
      });
  if (!is_well) return unexpected("change");
  if (refused) return *refused;
  return outcomes;
}

Result<DeadSweep> sweep(const Reply& reply) {
  if (!is_batch(reply)) return unexpected("sweep");
  return DeadSweep{.count = static_cast<std::uint64_t>(reply.items[2].integer),
                   .now = time(reply.items[1])};
}

Result<std::vector<std::optional<JobInfo>>> find(const Reply& reply, const QueueName& queue) {
  if (reply.items.size() != 3 || reply.items[0].text != "jobs") return unexpected("find");
  std::vector<std::optional<JobInfo>> jobs;
  for (const Reply& row : reply.items[2].items) jobs.push_back(job_info(row, queue));
  return jobs;
}

Result<JobPage> list(const Reply& reply, const QueueName& queue) {
  if (reply.items.size() != 4 || reply.items[0].text != "page") return unexpected("list");
  JobPage page;
  if (!reply.items[2].text.empty()) page.next = reply.items[2].text;
  for (const Reply& row : reply.items[3].items) {
    if (auto job = job_info(row, queue)) page.jobs.push_back(*std::move(job));
  }
  return page;
}

Result<QueueLimits> limits(const Reply& reply) {
  if (reply.items.size() != 2 || reply.items[0].text != "limits") return unexpected("limits");
  QueueLimits limits;
  const std::vector<Reply>& cells = reply.items[1].items;
  for (std::size_t i = 0; i + 1 < cells.size(); i += 2) {
    const std::string& name = cells[i].text;
    const std::int64_t value = number(cells[i + 1]);
    const auto count = static_cast<std::uint64_t>(value);
    if (name == "length") limits.length = count;
    if (name == "dead_count") limits.dead_count = count;
    if (name == "dead_bytes") limits.dead_bytes = count;
    if (name == "dead_age_ms") limits.dead_age = Milliseconds{value};
    if (name == "dead_refuse" && value == 1) {
      limits.dead_at_limit = QueueLimits::AtLimit::refuse;
    }
    if (name == "done_age_ms") limits.done_age = Milliseconds{value};
    if (name == "done_count") limits.done_count = count;
    if (name == "done_bytes") limits.done_bytes = count;
  }
  return limits;
}

Result<CheckPiece> check(const Reply& reply) {
  static constexpr std::array kAll{Damage::no_place, Damage::two_places, Damage::no_record,
                                   Damage::no_job,   Damage::no_end,     Damage::no_list,
                                   Damage::counts,   Damage::totals};
  if (reply.items.size() != 5 || reply.items[0].text != "checked") return unexpected("check");
  CheckPiece piece{.cursor = reply.items[1].text,
                   .looked = static_cast<std::uint64_t>(number(reply.items[2]))};
  const std::vector<Reply>& found = reply.items[3].items;
  for (std::size_t i = 0; i + 1 < found.size(); i += 2) {
    const auto damage = word_of(kAll, found[i].text);
    if (!damage) return unexpected("check");
    piece.findings.push_back({*damage, found[i + 1].text});
  }
  for (const Reply& seen : reply.items[4].items) piece.seen.push_back(seen.text);
  if (piece.seen.size() % 2 != 0) return unexpected("check");
  return piece;
}

Result<ImportPiece> import_piece(const Reply& reply) {
  if (reply.items.size() != 3 || reply.items[0].text != "imported") return unexpected("import");
  ImportPiece piece;
  if (!reply.items[1].text.empty()) piece.next = reply.items[1].text;
  const std::vector<Reply>& cells = reply.items[2].items;
  for (std::size_t i = 0; i + 1 < cells.size(); i += 2) {
    const std::string& name = cells[i].text;
    if (name == "earliest_ms") piece.earliest = optional_time(cells[i + 1]);
    if (name == "latest_ms") piece.latest = optional_time(cells[i + 1]);
    if (std::uint64_t* const count = import_count(piece, name)) {
      *count = static_cast<std::uint64_t>(number(cells[i + 1]));
    }
  }
  return piece;
}

Result<QueueStats> stats(const Reply& reply, const QueueName& queue) {
  if (reply.items.size() != 2 || reply.items[0].text != "stats") return unexpected("stats");
  QueueStats stats;
  stats.queue = queue;
  const std::vector<Reply>& cells = reply.items[1].items;
  for (std::size_t i = 0; i + 1 < cells.size(); i += 2) {
    const std::string& name = cells[i].text;
    if (name == "engine") stats.engine = cells[i + 1].text;
    if (name == "paused") stats.is_paused = number(cells[i + 1]) == 1;
    if (name == "stopped") stats.is_stopped = number(cells[i + 1]) == 1;
    if (name == "oldest_due_ms") stats.oldest_due = optional_time(cells[i + 1]);
    if (std::uint64_t* const count = total(stats, name)) {
      *count = static_cast<std::uint64_t>(number(cells[i + 1]));
    }
  }
  return stats;
}

}  // namespace duly::replies
