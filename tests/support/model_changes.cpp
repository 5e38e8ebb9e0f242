#include <algorithm>
#include <sstream>

#include "src/core/record.h"
#include "tests/support/model_queue.h"

// What the model does to waiting and dead jobs, and what it tells of all of them.
namespace duly::testing {
namespace {

// A page ends early when its payloads are so many bytes together.
constexpr std::size_t kPageBytes = 1024UL * 1024;

}  // namespace

ModelQueue::Job* ModelQueue::waiting(const JobId& id) {
  const auto job = jobs_.find(id);
  return job != jobs_.end() && job->second.due_at ? &job->second : nullptr;
}

ModelQueue::Job* ModelQueue::dead(const JobId& id) {
  const auto job = jobs_.find(id);
  return job != jobs_.end() && job->second.died_at ? &job->second : nullptr;
}

ChangeOutcome ModelQueue::absent(const JobId& id) const {
  return jobs_.contains(id) ? ChangeOutcome::wrong_state : ChangeOutcome::not_found;
}

ChangeOutcome ModelQueue::cancel(const JobId& id) {
  Job* const job = waiting(id);
  if (job == nullptr) {
    const auto active = jobs_.find(id);
    if (active == jobs_.end() || state_of(active->second) != JobState::active) return absent(id);
    active->second.is_cancel_asked = true;
    return ChangeOutcome::asked;
  }
  stop_waiting(*job);
  jobs_.erase(id);
  ++totals_.cancelled;
  return ChangeOutcome::done;
}

ChangeOutcome ModelQueue::reschedule(const JobId& id, SystemTime due_at) {
  Job* const job = waiting(id);
  if (job == nullptr) return absent(id);
  const auto before = head();
  stop_waiting(*job);
  wait_until(*job, due_at);
  wake.after_put(before, due_at, clock_.now_us());
  return ChangeOutcome::done;
}

ChangeOutcome ModelQueue::run_now(const JobId& id) {
  const Job* const job = waiting(id);
  if (job == nullptr) return absent(id);
  return reschedule(id, std::min(now(), *job->due_at));
}

ChangeOutcome ModelQueue::edit(const JobId& id, const std::string& payload) {
  Job* const job = waiting(id);
  if (job == nullptr) return absent(id);
  job->what.payload = payload;
  return ChangeOutcome::done;
}

void ModelQueue::replay(Job& job) {
  const auto before = head();
  job.failures = job.lost_leases = 0;
  job.died_at.reset();
  job.reason.reset();
  wait_until(job, now());
  ++totals_.replayed;
  wake.after_put(before, now(), clock_.now_us());
}

void ModelQueue::purge(Job& job) {
  ++totals_.purged;
  jobs_.erase(JobId(*job.what.id));
}

ChangeOutcome ModelQueue::replay(const JobId& id) {
  Job* const job = dead(id);
  if (job == nullptr) return absent(id);
  replay(*job);
  return ChangeOutcome::done;
}

ChangeOutcome ModelQueue::purge(const JobId& id) {
  Job* const job = dead(id);
  if (job == nullptr) return absent(id);
  purge(*job);
  return ChangeOutcome::done;
}

DeadSweep ModelQueue::replay_dead(SystemTime died_by) {
  DeadSweep sweep{.now = now()};
  for (const auto& [died_at, id] : by_end(JobState::dead)) {
    if (died_at > died_by || sweep.count == Limits::piece) break;
    replay(jobs_[id]);
    ++sweep.count;
  }
  return sweep;
}

DeadSweep ModelQueue::purge_dead(SystemTime died_by) {
  DeadSweep sweep{.now = now()};
  for (const auto& [died_at, id] : by_end(JobState::dead)) {
    if (died_at > died_by || sweep.count == Limits::piece) break;
    purge(jobs_[id]);
    ++sweep.count;
  }
  return sweep;
}

void ModelQueue::resume() {
  is_paused_ = false;
  if (!due_.empty()) wake.tell_keeper(std::chrono::microseconds{0});
}

std::optional<SystemTime> ModelQueue::head() const {
  std::optional<SystemTime> first;
  for (const auto& [priority, level] : due_) {
    first = std::min(first.value_or(level.begin()->first), level.begin()->first);
  }
  return first;
}

std::optional<std::chrono::microseconds> ModelQueue::until_next() const {
  auto next_at = head();
  const auto leases = leases_by_end();
  if (!leases.empty()) {
    next_at = std::min(next_at.value_or(leases.front().first), leases.front().first);
  }
  if (!next_at) return {};
  return std::max(std::chrono::microseconds{0}, *next_at - clock_.now_us());
}

std::vector<std::pair<SystemTime, LeaseToken>> ModelQueue::leases_by_end() const {
  std::vector<std::pair<SystemTime, LeaseToken>> ends;
  for (const auto& [token, lease] : leases_) ends.emplace_back(lease.ends_at, token);
  std::sort(ends.begin(), ends.end());
  return ends;
}

// Dead or done jobs, the longest ended first.
std::vector<std::pair<SystemTime, JobId>> ModelQueue::by_end(JobState state) const {
  std::vector<std::pair<SystemTime, JobId>> ended;
  for (const auto& [id, job] : jobs_) {
    const auto& at = state == JobState::dead ? job.died_at : job.done_at;
    if (at) ended.emplace_back(*at, id);
  }
  std::sort(ended.begin(), ended.end());
  return ended;
}

// Of records and what is written beside them.
std::uint64_t ModelQueue::kept_bytes(JobState state) const {
  constexpr std::size_t kEntryBytes = 15;
  std::uint64_t bytes = 0;
  for (const auto& [at, id] : by_end(state)) {
    const Job& job = jobs_.at(id);
    const std::string& text = state == JobState::dead ? job.last_error : job.result;
    bytes += core::kStampBytes + core::pack_record(job.what).size() + kEntryBytes + text.size();
  }
  return bytes;
}

std::uint64_t ModelQueue::dead_percent() const {
  return std::max(100 * by_end(JobState::dead).size() / limits_.dead_count,
                  100 * kept_bytes(JobState::dead) / limits_.dead_bytes);
}

bool ModelQueue::is_full() const {
  return limits_.dead_at_limit == QueueLimits::AtLimit::refuse &&
         (by_end(JobState::dead).size() >= limits_.dead_count ||
          kept_bytes(JobState::dead) >= limits_.dead_bytes);
}

// Drops the longest ended jobs beyond the limits, a piece at the most. Answers how many.
std::uint64_t ModelQueue::trim(JobState state, std::uint64_t count, std::uint64_t bytes,
                               Milliseconds age) {
  const auto ended = by_end(state);
  std::uint64_t gone = 0;
  for (const auto& [at, id] : ended) {
    const bool is_old = age > Milliseconds{0} && at <= now() - age;
    const bool is_more = ended.size() - gone > count || kept_bytes(state) > bytes;
    if (gone == Limits::piece || (!is_old && !is_more)) break;
    jobs_.erase(id);
    ++gone;
  }
  return gone;
}

void ModelQueue::trim() {
  has_kept_ = false;
  if (limits_.dead_at_limit == QueueLimits::AtLimit::drop) {
    totals_.dead_dropped +=
        trim(JobState::dead, limits_.dead_count, limits_.dead_bytes, limits_.dead_age);
  }
  const std::uint64_t count = limits_.done_age > Milliseconds{0} ? limits_.done_count : 0;
  totals_.done_expired += trim(JobState::done, count, limits_.done_bytes, limits_.done_age);
}

void ModelQueue::set_limits(const QueueLimits& limits) {
  limits_ = limits;
  trim();
}

JobState ModelQueue::state_of(const Job& job) const {
  if (job.due_at) return *job.due_at <= now() ? JobState::ready : JobState::scheduled;
  if (job.done_at) return JobState::done;
  return job.died_at ? JobState::dead : JobState::active;
}

JobInfo ModelQueue::info(const Job& job) const {
  return {.id = *job.what.id,
          .queue = name_,
          .state = state_of(job),
          .type = job.what.type,
          .payload = job.what.payload,
          .put_at = job.put_at,
          .due_at = job.due_at,
          .died_at = job.died_at,
          .done_at = job.done_at,
          .dead_reason = job.reason,
          .last_failed_at = job.last_failed_at,
          .failures = job.failures,
          .lost_leases = job.lost_leases,
          .max_attempts = job.what.max_attempts,
          .priority = job.what.priority,
          .last_error = job.done_at ? "" : job.last_error,
          .result = job.result,
          .lease = job.what.lease,
          .timeout = job.what.timeout,
          .backoff = job.what.backoff};
}

std::optional<JobInfo> ModelQueue::find(const JobId& id) const {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return {};
  return info(job->second);
}

// The jobs of one state in the order of its list, dead ones from the last one on.
std::map<ModelQueue::Place, const ModelQueue::Job*> ModelQueue::places(JobState state) const {
  std::map<Place, const Job*> places;
  if (state == JobState::active) {
    for (const auto& [token, lease] : leases_) {
      for (std::size_t i = 0; i < lease.held.size(); ++i) {
        places[{0, lease.ends_at, token.text(), i}] = &jobs_.at(lease.held[i]);
      }
    }
    return places;
  }
  for (const auto& [id, job] : jobs_) {
    if (state_of(job) != state) continue;
    const auto ended = state == JobState::dead ? job.died_at : job.done_at;
    const std::uint32_t below = job.due_at ? Limits::priority - job.what.priority : 0;
    places[{below, ended ? *ended : job.due_at.value(), id.text()}] = &job;
  }
  return places;
}

// A cursor is the place of the last job shown: "priority ms position tie".
Result<JobPage> ModelQueue::list(JobState state, const ListOptions& options) const {
  const auto places = this->places(state);
  std::vector<std::pair<Place, const Job*>> order(places.begin(), places.end());
  const bool is_reverse = state == JobState::dead || state == JobState::done;
  if (is_reverse) std::reverse(order.begin(), order.end());
  auto at = order.begin();
  if (!options.after.empty()) {
    std::istringstream cursor(options.after);
    Place last;
    Milliseconds::rep ms = 0;
    if (!(cursor >> last.below >> ms >> last.position >> last.tie)) {
      return Error(ErrorCode::invalid_argument, "after: not of this form");
    }
    last.at = SystemTime{Milliseconds{ms}};
    at = std::find_if(order.begin(), order.end(), [&](const auto& entry) {
      return is_reverse ? entry.first < last : last < entry.first;
    });
  }
  JobPage page;
  for (std::size_t bytes = 0; at != order.end(); ++at) {
    page.jobs.push_back(info(*at->second));
    bytes += page.jobs.back().payload.size();
    if (page.jobs.size() == options.most || bytes > kPageBytes) {
      const Place& last = at->first;
      page.next = std::to_string(last.below) + " " +
                  std::to_string(last.at.time_since_epoch().count()) + " " +
                  std::to_string(last.position) + " " + last.tie;
      break;
    }
  }
  return page;
}

QueueStats ModelQueue::stats() const {
  QueueStats stats{.queue = name_,
                   .is_paused = is_paused_,
                   .is_stopped = is_full(),
                   .dead_percent = dead_percent(),
                   .oldest_due = head(),
                   .totals = totals_};
  for (const auto& [id, job] : jobs_) {
    switch (state_of(job)) {
      case JobState::scheduled:
        ++stats.scheduled;
        break;
      case JobState::ready:
        ++stats.ready;
        break;
      case JobState::active:
        ++stats.active;
        break;
      case JobState::dead:
        ++stats.dead;
        break;
      case JobState::done:
        ++stats.done;
        break;
    }
  }
  return stats;
}

}  // namespace duly::testing
