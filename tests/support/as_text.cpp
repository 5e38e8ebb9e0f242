#include "tests/support/as_text.h"

#include <sstream>

namespace duly::testing {
namespace {

std::string ms(SystemTime time) { return std::to_string(time.time_since_epoch().count()); }
std::string ms(Milliseconds length) { return std::to_string(length.count()); }
std::string ms(const std::optional<SystemTime>& time) { return time ? ms(*time) : "-"; }

}  // namespace

std::string as_text(const PutResult& result) {
  std::ostringstream text;
  text << result.id.text() << ' ' << to_string(result.outcome) << " due " << ms(result.due_at);
  if (result.error) text << " error " << to_string(result.error->code());
  return text.str();
}

std::string as_text(const ActiveJob& job) {
  std::ostringstream text;
  text << job.id.text() << " token " << job.token.text() << " queue " << job.queue.text()
       << " type " << job.type << " payload " << job.payload << " attempt " << job.attempt << '/'
       << job.max_attempts << " due " << ms(job.due_at) << " put " << ms(job.put_at) << " claimed "
       << ms(job.claimed_at) << " timeout " << ms(job.timeout);
  return text.str();
}

std::string as_text(const JobInfo& job) {
  std::ostringstream text;
  text << job.id.text() << " queue " << job.queue.text() << ' ' << to_string(job.state) << " type "
       << job.type << " payload " << job.payload << " put " << ms(job.put_at) << " due "
       << ms(job.due_at) << " died " << ms(job.died_at) << ' '
       << (job.dead_reason ? to_string(*job.dead_reason) : "-") << " last failed "
       << ms(job.last_failed_at) << " failures " << job.failures << " lost " << job.lost_leases
       << " of " << job.max_attempts << " error " << job.last_error << " lease " << ms(job.lease)
       << " timeout " << ms(job.timeout) << " backoff " << static_cast<int>(job.backoff.kind) << ' '
       << ms(job.backoff.base) << ' ' << ms(job.backoff.cap) << ' ' << job.backoff.factor << ' '
       << job.backoff.jitter;
  return text.str();
}

std::string as_text(const std::optional<JobInfo>& job) { return job ? as_text(*job) : "nothing"; }

std::string as_text(const ClaimReply& reply) {
  std::ostringstream text;
  text << as_text(reply.jobs) << " now " << reply.now.time_since_epoch().count() << " next in ";
  if (reply.next_in) {
    text << reply.next_in->count();
  } else {
    text << '-';
  }
  text << (reply.is_keeper ? " keeper" : reply.is_parked ? " idle" : "");
  return text.str();
}

std::string as_text(const ExtendResult& result) {
  std::string text(to_string(result.outcome));
  for (const JobId& id : result.cancelled) text += " cancelled " + id.text();
  return text;
}

std::string as_text(const QueueStats& stats) {
  const QueueStats::Totals& t = stats.totals;
  std::ostringstream text;
  text << stats.queue.text() << (stats.is_paused ? " paused" : "") << " scheduled "
       << stats.scheduled << " ready " << stats.ready << " active " << stats.active << " dead "
       << stats.dead << " done " << stats.done << " oldest due " << ms(stats.oldest_due) << "; put "
       << t.put << " claimed " << t.claimed << " acked " << t.acked << " failed " << t.failed
       << " lost " << t.lost_leases << " released " << t.released << " died " << t.died
       << " replayed " << t.replayed << " purged " << t.purged << " cancelled " << t.cancelled
       << " dropped " << t.dropped << " repaired " << t.repaired << " lateness " << t.lateness_ms;
  return text.str();
}

}  // namespace duly::testing
