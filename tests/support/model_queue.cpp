#include "tests/support/model_queue.h"

#include <algorithm>

#include "src/core/backoff.h"
#include "src/core/record.h"

namespace duly::testing {
namespace {

// What one claim hands over at the most, the job that goes beyond it included.
constexpr std::size_t kClaimBytes = 1024UL * 1024;
// A job that may be the one that crashes its workers runs alone of its kind; others wait so long,
// each a bit longer than the one before.
constexpr Milliseconds kSuspectPause{100};

Error invalid(const std::string& message) { return {ErrorCode::invalid_argument, message}; }

}  // namespace

std::optional<SystemTime> ModelQueue::due_of(Milliseconds delay,
                                             std::optional<SystemTime> due_at) const {
  const SystemTime due = due_at.value_or(now() + delay);
  if (delay > Limits::delay || due > Limits::last_due_at) return {};
  return due;
}

std::vector<PutResult> ModelQueue::put(const std::vector<NewJob>& jobs, PutMode mode) {
  std::vector<PutResult> results;
  std::map<JobId, SystemTime> fresh;
  const std::size_t waiting = waiting_count();
  for (const NewJob& job : jobs) {
    const JobId& id = *job.id;
    const auto due = due_of(job.delay, job.due_at);
    if (!due) {
      results.push_back({id, PutOutcome::refused, {}, invalid("delay: beyond the limits")});
    } else if (jobs_.contains(id)) {
      results.push_back({id, PutOutcome::exists, jobs_[id].due_at});
    } else if (fresh.contains(id)) {
      results.push_back({id, PutOutcome::exists, fresh[id]});
    } else if (limits_.length > 0 && waiting + fresh.size() >= limits_.length) {
      results.push_back(
          {id, PutOutcome::refused, {}, Error(ErrorCode::unavailable, "queue: at its limit")});
    } else {
      results.push_back({id, PutOutcome::created, due});
      fresh[id] = *due;
    }
  }
  if (mode == PutMode::all_or_nothing && fresh.size() < jobs.size()) {
    for (PutResult& result : results) {
      if (!fresh.contains(result.id)) continue;
      result.due_at.reset();
      if (result.outcome == PutOutcome::created) {
        result.outcome = PutOutcome::refused;
        result.error = invalid("job: another one of its batch was not stored");
      }
    }
    return results;
  }
  const auto before = head();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (results[i].outcome != PutOutcome::created) continue;
    Job& job = jobs_[results[i].id];
    job = {.what = jobs[i], .put_at = now()};
    wait_until(job, *results[i].due_at);
    ++totals_.put;
  }
  if (!fresh.empty()) {
    const auto earliest =
        std::min_element(fresh.begin(), fresh.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    wake.after_put(before, earliest->second, clock_.now_us());
  }
  return results;
}

ClaimReply ModelQueue::claim(const ClaimRequest& request) {
  ClaimReply reply;
  reply.now = clock_.now_us();
  if (leases_.contains(request.token)) {
    reply.jobs = taken_before(request.token);
    reply.next_in = std::chrono::microseconds{0};
    return reply;
  }
  recover_expired();
  const auto first = head();
  const bool is_still = is_paused_ || is_full();
  const bool may_take = request.most > 0 && !is_still;
  const bool was_overdue = may_take && first && ModelWake::is_overdue(*first, clock_.now_us());
  const bool has_more = may_take && take(request, reply.jobs);
  if (reply.jobs.empty() || has_kept_) trim();
  if (!is_still) reply.next_in = until_next();
  if (request.waiter.empty()) return reply;
  if (request.most == 0 || has_more) {
    wake.leave(request.waiter, was_overdue, reply.next_in.value_or(std::chrono::microseconds{0}));
  } else {
    reply.is_parked = true;
    reply.is_keeper = wake.park(request.waiter, was_overdue, clock_.now_us());
  }
  return reply;
}

// "t" for the first lease of a claim, "t.2" for the second; what stands under such a name is passed
// over.
LeaseToken ModelQueue::token_of_part(const LeaseToken& token, std::size_t& part) const {
  const auto name = [&] {
    return part == 1 ? token : LeaseToken(token.text() + "." + std::to_string(part));
  };
  while (leases_.contains(name())) ++part;
  return name();
}

// Since the due time; behind the first second, no longer than since the put.
std::uint64_t ModelQueue::lateness_ms(const Job& job) const {
  Milliseconds late = now() - *job.due_at;
  if (late > std::chrono::seconds{1}) late = std::min(late, now() - job.put_at);
  return static_cast<std::uint64_t>(late.count());
}

// Whether there may be more.
bool ModelQueue::take(const ClaimRequest& request, std::vector<ActiveJob>& taken) {
  std::vector<JobId> ids;
  std::size_t bytes = 0;
  for (const auto& [priority, level] : due_) {
    for (const auto& [due_at, id] : level) {
      if (due_at > now() || ids.size() == request.most || bytes > kClaimBytes) break;
      ids.push_back(id);
      bytes += core::kStampBytes + core::pack_record(jobs_[id].what).size();
    }
  }
  std::map<Milliseconds, LeaseToken> token_of;
  std::size_t part = 0;
  int postponed = 0;
  const auto hold = [&](const JobId& id, const LeaseToken& token, Milliseconds lease) {
    Job& job = jobs_[id];
    Lease& entry = leases_[token];
    entry.ends_at = now() + lease;
    entry.held.push_back(id);
    taken.push_back(hand_over(job, token, *job.due_at, lease));
    ++totals_.claimed;
    totals_.lateness_ms += lateness_ms(job);
    stop_waiting(job);
  };
  for (const JobId& id : ids) {
    Job& job = jobs_[id];
    const Milliseconds lease = job.what.lease > Milliseconds{0} ? job.what.lease : request.lease;
    if (job.lost_leases + 1 < Limits::lost_leases) {
      if (!token_of.contains(lease)) token_of[lease] = token_of_part(request.token, ++part);
      hold(id, token_of[lease], lease);
    } else if (leases_.contains(suspect_)) {
      stop_waiting(job);
      wait_until(job, now() + kSuspectPause * ++postponed);
    } else {
      suspect_ = token_of_part(request.token, ++part);
      hold(id, suspect_, lease);
    }
  }
  const auto first = head();
  return ids.size() == request.most || taken.size() < ids.size() || (first && *first <= now());
}

ActiveJob ModelQueue::hand_over(const Job& job, const LeaseToken& token, SystemTime due_at,
                                Milliseconds lease) const {
  return {.id = *job.what.id,
          .token = token,
          .queue = name_,
          .type = job.what.type,
          .payload = job.what.payload,
          .attempt = job.failures + job.lost_leases + 1,
          .max_attempts = job.what.max_attempts,
          .due_at = due_at,
          .put_at = job.put_at,
          .claimed_at = now(),
          .lease = lease,
          .timeout = job.what.timeout};
}

// What an earlier try of the same claim took.
std::vector<ActiveJob> ModelQueue::taken_before(const LeaseToken& token) const {
  std::vector<ActiveJob> taken;
  LeaseToken part = token;
  for (std::size_t n = 2; leases_.contains(part); ++n) {
    const Lease& lease = leases_.at(part);
    for (const JobId& id : lease.held) {
      taken.push_back(hand_over(jobs_.at(id), part, now(), lease.ends_at - now()));
    }
    part = LeaseToken(token.text() + "." + std::to_string(n));
  }
  return taken;
}

// Takes the job out of its lease, if this is its lease; the last one ends it.
bool ModelQueue::take_out(const Held& held) {
  const auto lease = leases_.find(held.token);
  if (lease == leases_.end() || std::erase(lease->second.held, held.id) == 0) return false;
  if (lease->second.held.empty()) leases_.erase(lease);
  return true;
}

LeaseOutcome ModelQueue::ack(const Held& held, const std::string& result) {
  if (!take_out(held)) return LeaseOutcome::lease_lost;
  ++totals_.acked;
  if (limits_.done_age > Milliseconds{0}) {
    jobs_[held.id].done_at = now();
    jobs_[held.id].result = result;
    trim();
  } else {
    jobs_.erase(held.id);
  }
  return LeaseOutcome::acked;
}

LeaseOutcome ModelQueue::fail(const Held& held, const Failure& failure) {
  if (!take_out(held)) return LeaseOutcome::lease_lost;
  Job& job = jobs_[held.id];
  if (job.is_cancel_asked) {
    drop_cancelled(held.id);
    return LeaseOutcome::cancelled;
  }
  ++job.failures;
  ++totals_.failed;
  job.last_failed_at = now();
  job.last_error = failure.error.substr(0, Limits::error);
  if (failure.then == Failure::Then::give_up) {
    bury(job, DeadReason::given_up);
    trim();
    return LeaseOutcome::dead;
  }
  if (job.failures >= job.what.max_attempts) {
    bury(job, DeadReason::failed);
    trim();
    return LeaseOutcome::dead;
  }
  const auto before = head();
  const Milliseconds wait =
      failure.retry_in.value_or(core::backoff_delay(job.what.backoff, job.failures, 0.0));
  wait_until(job, std::min(now() + wait, Limits::last_due_at));
  wake.after_put(before, *job.due_at, clock_.now_us());
  return LeaseOutcome::failed;
}

LeaseOutcome ModelQueue::release(const Held& held) {
  if (!take_out(held)) return LeaseOutcome::lease_lost;
  if (jobs_[held.id].is_cancel_asked) {
    drop_cancelled(held.id);
    return LeaseOutcome::cancelled;
  }
  const auto before = head();
  wait_until(jobs_[held.id], now());
  ++totals_.released;
  wake.after_put(before, now(), clock_.now_us());
  return LeaseOutcome::released;
}

ExtendResult ModelQueue::extend(const Held& held, Milliseconds lease) {
  const auto found = leases_.find(held.token);
  if (found == leases_.end()) return {LeaseOutcome::lease_lost};
  const auto& ids = found->second.held;
  if (std::count(ids.begin(), ids.end(), held.id) == 0) return {LeaseOutcome::lease_lost};
  found->second.ends_at = std::max(found->second.ends_at, now() + lease);
  ExtendResult result;
  for (const JobId& id : ids) {
    if (jobs_[id].is_cancel_asked) result.cancelled.push_back(id);
  }
  if (jobs_[held.id].is_cancel_asked) result.outcome = LeaseOutcome::cancelled;
  return result;
}

std::uint64_t ModelQueue::recover() {
  const auto before = head();
  const auto [back, waiting] = recover_expired();
  trim();
  if (waiting > 0) wake.after_put(before, now(), clock_.now_us());
  return back;
}

std::size_t ModelQueue::waiting_count() const {
  std::size_t count = 0;
  for (const auto& [priority, level] : due_) count += level.size();
  return count;
}

// Whole leases, until a piece of jobs is back. Answers how many came back, and how many of them
// wait again.
std::pair<std::uint64_t, std::uint64_t> ModelQueue::recover_expired() {
  std::uint64_t back = 0;
  const std::size_t waiting_before = waiting_count();
  for (const auto& [ends_at, token] : leases_by_end()) {
    if (ends_at > now() || back >= Limits::piece) break;
    for (const JobId& id : leases_[token].held) {
      lose_lease(jobs_[id], ends_at);
      ++back;
    }
    leases_.erase(token);
  }
  return {back, waiting_count() - waiting_before};
}

void ModelQueue::lose_lease(Job& job, SystemTime ended_at) {
  ++job.lost_leases;
  ++totals_.lost_leases;
  job.last_failed_at = ended_at;
  if (job.is_cancel_asked) return drop_cancelled(JobId(*job.what.id));
  if (job.lost_leases >= Limits::lost_leases) {
    job.last_error = "lease lost " + std::to_string(job.lost_leases) + " times";
    return bury(job, DeadReason::quarantined);
  }
  if (job.failures == 0) job.last_error = "lease lost";
  wait_until(job, ended_at);
}

void ModelQueue::drop_cancelled(const JobId& id) {
  jobs_.erase(id);
  ++totals_.cancelled;
}

void ModelQueue::bury(Job& job, DeadReason reason) {
  job.died_at = now();
  job.reason = reason;
  ++totals_.died;
  has_kept_ = true;
}

void ModelQueue::wait_until(Job& job, SystemTime due_at) {
  job.due_at = due_at;
  due_[job.what.priority].emplace(due_at, *job.what.id);
}

void ModelQueue::stop_waiting(Job& job) {
  const auto level = due_.find(job.what.priority);
  level->second.erase({*job.due_at, *job.what.id});
  if (level->second.empty()) due_.erase(level);
  job.due_at.reset();
}

}  // namespace duly::testing
