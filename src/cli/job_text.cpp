#include "src/cli/job_text.h"

#include "src/cli/due_text.h"
#include "src/core/bytes.h"

namespace duly::cli {
namespace {

Json time_json(const std::optional<SystemTime>& time) {
  return time ? Json(to_ms(*time)) : Json(nullptr);
}

Json backoff_json(const Backoff& backoff) {
  return {{"kind", backoff.kind == Backoff::Kind::fixed ? "fixed" : "exponential"},
          {"base_ms", backoff.base.count()},
          {"cap_ms", backoff.cap.count()},
          {"factor", backoff.factor},
          {"jitter", backoff.jitter}};
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!text.empty()) text += ' ';
    text += digits[byte >> 4U];
    text += digits[byte & 0x0FU];
  }
  return text;
}

}  // namespace

Json put_json(const PutResult& result) {
  Json json = outcome_json(result.id, to_string(result.outcome));
  json["due_at_ms"] = time_json(result.due_at);
  return json;
}

Json claim_json(const ActiveJob& job) {
  Json json{{"id", job.id.text()},
            {"token", job.token.text()},
            {"queue", job.queue.text()},
            {"type", job.type}};
  add_bytes(json, "payload", job.payload);
  json["attempt"] = job.attempt;
  json["due_at_ms"] = to_ms(job.due_at);
  json["max_attempts"] = job.max_attempts;
  json["put_at_ms"] = to_ms(job.put_at);
  json["claimed_at_ms"] = to_ms(job.claimed_at);
  json["lease_ms"] = job.lease.count();
  json["timeout_ms"] = job.timeout.count();
  return json;
}

Json info_json(const JobInfo& job) {
  Json json{{"id", job.id.text()},
            {"queue", job.queue.text()},
            {"state", to_string(job.state)},
            {"type", job.type}};
  add_bytes(json, "payload", job.payload);
  json["put_at_ms"] = to_ms(job.put_at);
  json["due_at_ms"] = time_json(job.due_at);
  json["died_at_ms"] = time_json(job.died_at);
  json["done_at_ms"] = time_json(job.done_at);
  json["dead_reason"] = job.dead_reason ? Json(to_string(*job.dead_reason)) : Json(nullptr);
  json["last_failed_at_ms"] = time_json(job.last_failed_at);
  json["failures"] = job.failures;
  json["lost_leases"] = job.lost_leases;
  json["max_attempts"] = job.max_attempts;
  json["priority"] = job.priority;
  add_bytes(json, "last_error", job.last_error);
  if (job.state == JobState::done) add_bytes(json, "result", job.result);
  json["lease_ms"] = job.lease.count();
  json["timeout_ms"] = job.timeout.count();
  json["backoff"] = backoff_json(job.backoff);
  json["is_readable"] = job.is_readable;
  return json;
}

Json export_json(const JobInfo& job) {
  Json json{{"id", job.id.text()}, {"type", job.type}};
  add_bytes(json, "payload", job.payload);
  if (job.due_at) json["due_at_ms"] = to_ms(*job.due_at);
  json["priority"] = job.priority;
  json["max_attempts"] = job.max_attempts;
  if (job.lease > Milliseconds{0}) json["lease_ms"] = job.lease.count();
  json["timeout_ms"] = job.timeout.count();
  json["backoff"] = backoff_json(job.backoff);
  Json was{{"queue", job.queue.text()}, {"state", to_string(job.state)}};
  if (job.failures > 0) was["failures"] = job.failures;
  if (job.lost_leases > 0) was["lost_leases"] = job.lost_leases;
  if (!job.last_error.empty()) add_bytes(was, "last_error", job.last_error);
  if (job.last_failed_at) was["last_failed_at_ms"] = to_ms(*job.last_failed_at);
  if (job.dead_reason) was["dead_reason"] = to_string(*job.dead_reason);
  if (job.died_at) was["died_at_ms"] = to_ms(*job.died_at);
  if (job.done_at) was["done_at_ms"] = to_ms(*job.done_at);
  if (!job.result.empty()) add_bytes(was, "result", job.result);
  if (!job.is_readable) was["is_readable"] = false;
  json["was"] = std::move(was);
  return json;
}

Json stats_json(const QueueStats& stats) {
  const QueueStats::Totals& totals = stats.totals;
  return {{"queue", stats.queue.text()},
          {"engine", stats.engine},
          {"scheduled", stats.scheduled},
          {"ready", stats.ready},
          {"active", stats.active},
          {"dead", stats.dead},
          {"done", stats.done},
          {"oldest_due_ms", time_json(stats.oldest_due)},
          {"is_paused", stats.is_paused},
          {"is_stopped", stats.is_stopped},
          {"dead_percent", stats.dead_percent},
          {"totals",
           {{"put", totals.put},
            {"claimed", totals.claimed},
            {"acked", totals.acked},
            {"failed", totals.failed},
            {"lost_leases", totals.lost_leases},
            {"released", totals.released},
            {"died", totals.died},
            {"replayed", totals.replayed},
            {"purged", totals.purged},
            {"cancelled", totals.cancelled},
            {"dropped", totals.dropped},
            {"dead_dropped", totals.dead_dropped},
            {"done_expired", totals.done_expired},
            {"repaired", totals.repaired},
            {"swept", totals.swept},
            {"lateness_ms", totals.lateness_ms}}}};
}

Json outcome_json(const JobId& id, std::string_view outcome) {
  return {{"id", id.text()}, {"outcome", outcome}};
}

std::string preview(std::string_view payload, std::size_t most) {
  const bool is_text = core::is_utf8(payload);
  const std::string_view shown =
      is_text ? core::cut_utf8(payload, most) : payload.substr(0, most / 3);
  std::string text = is_text ? core::printable(shown) : "hex " + hex(shown);
  if (shown.size() < payload.size()) {
    text += "... (" + std::to_string(payload.size()) + " bytes)";
  }
  return text;
}

}  // namespace duly::cli
