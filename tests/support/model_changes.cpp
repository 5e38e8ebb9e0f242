#include <algorithm>

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
    if (!jobs_.contains(id) || dead(id) != nullptr) return absent(id);
    jobs_[id].is_cancel_asked = true;
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
  for (const auto& [died_at, id] : dead_by_time()) {
    if (died_at > died_by || sweep.count == Limits::piece) break;
    replay(jobs_[id]);
    ++sweep.count;
  }
  return sweep;
}

DeadSweep ModelQueue::purge_dead(SystemTime died_by) {
  DeadSweep sweep{.now = now()};
  for (const auto& [died_at, id] : dead_by_time()) {
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
  if (due_.empty()) return {};
  return due_.begin()->first;
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

std::vector<std::pair<SystemTime, JobId>> ModelQueue::dead_by_time() const {
  std::vector<std::pair<SystemTime, JobId>> dead;
  for (const auto& [id, job] : jobs_) {
    if (job.died_at) dead.emplace_back(*job.died_at, id);
  }
  std::sort(dead.begin(), dead.end());
  return dead;
}

JobState ModelQueue::state_of(const Job& job) const {
  if (job.due_at) return *job.due_at <= now() ? JobState::ready : JobState::scheduled;
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
          .dead_reason = job.reason,
          .last_failed_at = job.last_failed_at,
          .failures = job.failures,
          .lost_leases = job.lost_leases,
          .max_attempts = job.what.max_attempts,
          .last_error = job.last_error,
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
        places[{lease.ends_at, token.text(), i}] = &jobs_.at(lease.held[i]);
      }
    }
    return places;
  }
  for (const auto& [id, job] : jobs_) {
    if (state_of(job) != state) continue;
    places[{job.died_at.value_or(job.due_at.value_or(SystemTime{})), id.text()}] = &job;
  }
  return places;
}

// A cursor is the place of the last job shown: "ms position tie".
Result<JobPage> ModelQueue::list(JobState state, const ListOptions& options) const {
  const auto places = this->places(state);
  std::vector<std::pair<Place, const Job*>> order(places.begin(), places.end());
  const bool is_reverse = state == JobState::dead;
  if (is_reverse) std::reverse(order.begin(), order.end());
  auto at = order.begin();
  if (!options.after.empty()) {
    const std::size_t first = options.after.find(' ');
    const std::size_t second = options.after.find(' ', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      return Error(ErrorCode::invalid_argument, "after: not of this form");
    }
    const Place last{SystemTime{Milliseconds{std::stoll(options.after)}},
                     options.after.substr(second + 1), std::stoul(options.after.substr(first + 1))};
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
      page.next = std::to_string(last.at.time_since_epoch().count()) + " " +
                  std::to_string(last.position) + " " + last.tie;
      break;
    }
  }
  return page;
}

QueueStats ModelQueue::stats() const {
  QueueStats stats{
      .queue = name_, .is_paused = is_paused_, .oldest_due = head(), .totals = totals_};
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
        break;
    }
  }
  return stats;
}

}  // namespace duly::testing
