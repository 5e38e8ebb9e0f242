#include "src/engine/rows.h"

#include <algorithm>

#include "src/core/record.h"

namespace duly {

using redis::Command;

namespace {

std::int64_t not_before_1970(SystemTime time) {
  return std::max<std::int64_t>(0, time.time_since_epoch().count());
}

}  // namespace

Command put_rows(const std::vector<NewJob>& jobs, PutMode mode) {
  Command arguments;
  if (mode == PutMode::all_or_nothing) arguments.add("mode").add("all");
  const bool has_due_at = std::any_of(jobs.begin(), jobs.end(),
                                      [](const NewJob& job) { return job.due_at.has_value(); });
  arguments.add("columns").add(has_due_at ? "4" : "3").add("id").add("delay_ms").add("record");
  if (has_due_at) arguments.add("due_at_ms");
  for (const NewJob& job : jobs) {
    arguments.add(job.id->text());
    if (job.due_at) {
      arguments.add("");
    } else {
      arguments.add(job.delay.count());
    }
    arguments.add(core::pack_record(job));
    if (has_due_at && job.due_at) arguments.add(not_before_1970(*job.due_at));
    if (has_due_at && !job.due_at) arguments.add("");
  }
  return arguments;
}

Command claim_arguments(const ClaimRequest& request, const std::vector<std::string>& ids) {
  Command arguments{"as", "records", "token", request.token.text(), "most"};
  arguments.add(static_cast<std::int64_t>(request.most)).add("lease_ms").add(request.lease.count());
  if (!request.waiter.empty()) arguments.add("waiter").add(request.waiter);
  if (!ids.empty()) arguments.add("columns").add("1").add("id");
  for (const std::string& id : ids) arguments.add(id);
  return arguments;
}

Command fail_rows(const std::vector<FailRow>& rows) {
  Command arguments{"columns", "5", "id", "token", "error", "retry_in_ms", "give_up"};
  for (const auto& [held, failure] : rows) {
    arguments.add(held.id.text()).add(held.token.text()).add(failure.error);
    arguments.add(failure.retry_in ? std::to_string(failure.retry_in->count()) : std::string());
    arguments.add(failure.then == Failure::Then::give_up ? "1" : "");
  }
  return arguments;
}

Command extend_rows(const std::vector<ExtendRow>& rows) {
  Command arguments{"columns", "3", "id", "token", "lease_ms"};
  for (const auto& [held, lease] : rows) {
    arguments.add(held.id.text()).add(held.token.text()).add(lease.count());
  }
  return arguments;
}

Command reschedule_rows(const std::vector<RescheduleRow>& rows) {
  Command arguments{"columns", "3", "id", "delay_ms", "due_at_ms"};
  for (const RescheduleRow& row : rows) {
    arguments.add(row.id.text());
    arguments.add(row.due_at ? std::string() : std::to_string(row.delay.count()));
    arguments.add(row.due_at ? std::to_string(not_before_1970(*row.due_at)) : std::string());
  }
  return arguments;
}

Command held_rows(const std::vector<Held>& held) {
  const bool is_one_claim = std::all_of(held.begin(), held.end(), [&](const Held& other) {
    return other.token == held.front().token;
  });
  Command arguments;
  if (is_one_claim) {
    arguments.add("token").add(held.front().token.text()).add("columns").add("1").add("id");
    for (const Held& one : held) arguments.add(one.id.text());
    return arguments;
  }
  arguments.add("columns").add("2").add("id").add("token");
  for (const Held& one : held) arguments.add(one.id.text()).add(one.token.text());
  return arguments;
}

Command ack_rows(const std::vector<AckRow>& rows) {
  std::vector<Held> held;
  held.reserve(rows.size());
  for (const AckRow& row : rows) held.push_back(row.held);
  if (std::all_of(rows.begin(), rows.end(), [](const AckRow& row) { return row.result.empty(); })) {
    return held_rows(held);
  }
  Command arguments{"columns", "3", "id", "token", "result"};
  for (const AckRow& row : rows) {
    arguments.add(row.held.id.text()).add(row.held.token.text()).add(row.result);
  }
  return arguments;
}

Command limit_pairs(const QueueLimits& limits) {
  Command pairs;
  const auto add = [&](std::string_view name, std::uint64_t value) {
    pairs.add(name).add(static_cast<std::int64_t>(value));
  };
  add("length", limits.length);
  add("dead_count", limits.dead_count);
  add("dead_bytes", limits.dead_bytes);
  add("dead_age_ms", static_cast<std::uint64_t>(limits.dead_age.count()));
  add("dead_refuse", limits.dead_at_limit == QueueLimits::AtLimit::refuse ? 1 : 0);
  add("done_age_ms", static_cast<std::uint64_t>(limits.done_age.count()));
  add("done_count", limits.done_count);
  add("done_bytes", limits.done_bytes);
  return pairs;
}

Command id_rows(const std::vector<JobId>& ids) {
  Command arguments{"columns", "1", "id"};
  for (const JobId& id : ids) arguments.add(id.text());
  return arguments;
}

redis::Command import_arguments(const ImportRequest& request, std::size_t payload_limit) {
  NewJob job = request.job;
  job.payload.clear();
  const bool is_seconds = request.source.score == ImportSource::Score::seconds;
  Command arguments{"score",  is_seconds ? "s" : "ms", "cursor",       request.after,
                    "record", core::pack_record(job),  "payload_limit"};
  arguments.add(static_cast<std::int64_t>(payload_limit));
  if (request.mode == ImportMode::look) {
    arguments.add("look").add("1").add("planned").add(static_cast<std::int64_t>(request.planned));
  }
  return arguments;
}

redis::Command check_arguments(const CheckRequest& request) {
  redis::Command arguments{"part",   request.part,
                           "cursor", request.cursor,
                           "repair", request.mode == CheckMode::repair ? "1" : "0"};
  if (request.every > Milliseconds{0}) arguments.add("every_ms").add(request.every.count());
  if (request.rows.empty()) return arguments;
  if (request.part == "twice") {
    arguments.append({"columns", "3", "suspect", "first", "second"});
  } else {
    arguments.append({"columns", "2", "suspect", "version"});
  }
  for (const std::string& cell : request.rows) arguments.add(cell);
  return arguments;
}

}  // namespace duly
