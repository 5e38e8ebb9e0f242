#include "src/worker/pool.h"

#include <algorithm>
#include <system_error>
#include <thread>

namespace duly {

Pool::Pool(std::size_t threads, std::function<bool(const TaskPtr&)> run)
    : state_(std::make_shared<State>()) {
  state_->run = std::move(run);
  for (std::size_t i = 0; i < threads; ++i) std::thread(work, state_).detach();
}

Pool::~Pool() {
  const std::lock_guard lock(state_->mutex);
  state_->is_ending = true;
  state_->wake.notify_all();
}

bool Pool::add_thread() {
  try {
    std::thread(work, state_).detach();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void Pool::push(std::vector<TaskPtr> tasks) {
  const std::lock_guard lock(state_->mutex);
  for (TaskPtr& task : tasks) state_->tasks.push_back(std::move(task));
  const std::size_t wanted = std::min(state_->sleeping, tasks.size());
  for (std::size_t i = 0; i < wanted; ++i) state_->wake.notify_one();
}

std::vector<TaskPtr> Pool::take_back(SteadyTime claimed_before) {
  const std::lock_guard lock(state_->mutex);
  std::vector<TaskPtr> back;
  while (!state_->tasks.empty() && state_->tasks.front()->claimed_at < claimed_before) {
    back.push_back(std::move(state_->tasks.front()));
    state_->tasks.pop_front();
  }
  return back;
}

std::size_t Pool::waiting() const {
  const std::lock_guard lock(state_->mutex);
  return state_->tasks.size();
}

void Pool::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (true) {
    if (state->tasks.empty()) {
      if (state->is_ending) return;
      ++state->sleeping;
      state->wake.wait(lock);
      --state->sleeping;
      continue;
    }
    const TaskPtr task = std::move(state->tasks.front());
    state->tasks.pop_front();
    lock.unlock();
    if (!state->run(task)) return;
    lock.lock();
  }
}

}  // namespace duly
