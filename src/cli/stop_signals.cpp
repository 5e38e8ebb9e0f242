#include "src/cli/stop_signals.h"

#include <pthread.h>

#include <csignal>
#include <ctime>
#include <utility>

namespace duly::cli {
namespace {

// Wakes the thread of StopSignals at its end: a signal that is blocked, too, and means nothing
// else.
constexpr int kEnd = SIGUSR2;

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void block_stop_signals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void unblock_stop_signals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool wait_for_stop(Milliseconds time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::chrono::nanoseconds rest = time - seconds;
  const timespec limit{static_cast<time_t>(seconds.count()), static_cast<long>(rest.count())};
  const sigset_t set = stop_signals();
  return sigtimedwait(&set, nullptr, &limit) > 0;
}

namespace {

/// Before the thread starts, which inherits the mask: the signal can then not come too early.
void block_end() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, kEnd);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

StopSignals::StopSignals(std::function<void(int number)> work) {
  block_end();
  thread_ = std::jthread([work = std::move(work)](const std::stop_token& ended) {
    sigset_t set = stop_signals();
    sigaddset(&set, kEnd);
    int signal = 0;
    for (int number = 1; sigwait(&set, &signal) == 0 && !ended.stop_requested();) {
      if (signal != kEnd) work(number++);
    }
  });
}

StopSignals::~StopSignals() {
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), kEnd);
}

}  // namespace duly::cli
