#include "src/embedded/supervisor.h"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <exception>
#include <utility>

#include "src/embedded/probe.h"

namespace duly::embedded {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kLook = 100ms;  // At a running child, or for a lock that has become free.
constexpr std::chrono::milliseconds kBackoffLeast = 100ms;
constexpr std::chrono::milliseconds kBackoffMost = 5s;
constexpr auto kSteady =
    10s;  // A Redis that lived so long is started again without growing backoff.

// How long to wait for the first PONG: without end while the server says that it loads, else 10 s.
class Patience {
 public:
  // True once, when loading takes so long that people should hear about it.
  bool heard(Answer answer) {
    const auto now = steady_clock::now();
    if (answer != Answer::loading) return false;
    until_ = now + kSilence;
    return now - begin_ > 2s && !std::exchange(is_told_, true);
  }

  [[nodiscard]] bool is_over() const { return steady_clock::now() > until_; }

  // An empty folder is ready after about 20 ms: look often at first.
  [[nodiscard]] std::chrono::milliseconds step() const {
    const auto waited = steady_clock::now() - begin_;
    return waited < 200ms ? 1ms : waited < 2s ? 10ms : 100ms;
  }

 private:
  static constexpr auto kSilence = 10s;
  steady_clock::time_point begin_ = steady_clock::now();
  steady_clock::time_point until_ = begin_ + kSilence;
  bool is_told_ = false;
};

bool is_too_old(const std::string& version) {
  unsigned major = 0;
  unsigned minor = 0;
  const char* end = version.data() + version.size();
  const auto dot = std::from_chars(version.data(), end, major);
  if (dot.ec != std::errc{} || dot.ptr == end) return false;
  std::from_chars(dot.ptr + 1, end, minor);
  return major < 6 || (major == 6 && minor < 2);
}

}  // namespace

Supervisor::Supervisor(const Folder& folder, Log log)
    : folder_(folder), log_(std::move(log)), backoff_(kBackoffLeast) {
  // The thread inherits the mask: signals of the application stay with its own threads.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);

  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return is_ready_ || failure_; });
  if (!failure_) return;
  guard.unlock();
  thread_.join();
  throw Error(*failure_);
}

Supervisor::~Supervisor() {
  {
    const std::lock_guard guard(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Supervisor::run() {
  do {
    try {
      look_after();
      return;
    } catch (const Error& error) {
      if (!survives(error)) return;
    } catch (const std::exception& error) {
      if (!survives({ErrorCode::internal, std::string("private Redis: ") + error.what()})) return;
    }
    // The lock is free during this pause: another process may have better luck.
  } while (pause_before_next_try());
}

bool Supervisor::survives(const Error& error) {
  is_owner_ = false;
  {
    const std::lock_guard guard(mutex_);
    if (!is_ready_) {
      failure_ = error;
      changed_.notify_all();
      return false;
    }
  }
  say(LogLevel::error, error.what());
  return true;
}

void Supervisor::look_after() {
  std::optional<Fd> lock = folder_.try_lock();
  if (!lock) lock = join();
  if (lock) own(*lock);
}

std::optional<Fd> Supervisor::join() {
  Patience patience;
  bool is_joined = false;
  while (true) {
    if (!is_joined) {
      const Answer answer = ping(folder_.socket());
      is_joined = answer == Answer::ready;
      if (is_joined) {
        say(LogLevel::debug, "joined the private Redis of " + folder_.path().string());
        announce();
      } else if (patience.heard(answer)) {
        say(LogLevel::info,
            "the private Redis of " + folder_.path().string() + " still loads its data");
      } else if (patience.is_over()) {
        throw Error(ErrorCode::unavailable,
                    "private Redis: " + folder_.path().string() +
                        " is in use, but its Redis did not answer for 10 s");
      }
    }
    if (!pause(is_joined ? kLook : patience.step())) return std::nullopt;
    folder_.keep_reachable();
    if (auto lock = folder_.try_lock()) return lock;
  }
}

void Supervisor::own(const Fd& lock) {
  do {
    Child child(find_server(), folder_, lock);
    if (!await_ready(child)) return stop(child);
    check_version(child);
    is_owner_ = true;
    say(LogLevel::info, "started " + child.server().string() + " in " + folder_.path().string());
    announce();

    const auto ready_at = steady_clock::now();
    std::optional<std::string> end;
    while (!(end = child.ended())) {
      if (!pause(kLook)) return stop(child);
      folder_.keep_reachable();  // Where it cannot be now, the next look tries again.
    }
    if (steady_clock::now() - ready_at > kSteady) backoff_ = kBackoffLeast;
    say(LogLevel::warning, "private Redis of " + folder_.path().string() + " " + *end +
                               "; starting it again in " + std::to_string(backoff_.count()) +
                               " ms");
  } while (pause_before_next_try());
}

bool Supervisor::await_ready(Child& child) {
  Patience patience;
  while (true) {
    const Answer answer = ping(folder_.socket());
    if (const auto end = child.ended()) {
      throw Error(ErrorCode::unavailable, "private Redis of " + folder_.path().string() + ": " +
                                              child.server().string() + " " + *end);
    }
    if (answer == Answer::ready) return true;
    if (patience.heard(answer)) {
      say(LogLevel::info,
          "the private Redis of " + folder_.path().string() + " still loads its data");
    } else if (patience.is_over()) {
      throw Error(ErrorCode::unavailable, "private Redis of " + folder_.path().string() + ": " +
                                              child.server().string() + " did not answer for 10 s");
    }
    if (!pause(patience.step())) return false;
  }
}

void Supervisor::check_version(const Child& child) const {
  const auto version = server_version(folder_.socket());
  if (version && is_too_old(*version)) {
    throw Error(ErrorCode::unavailable, "private Redis: " + child.server().string() +
                                            " is version " + *version + ", expected 6.2 or later");
  }
}

void Supervisor::stop(Child& child) const {
  if (child.stop(10s) == Child::Stop::killed) {
    say(LogLevel::warning,
        "private Redis of " + folder_.path().string() + " did not end for 10 s and was killed");
  }
}

void Supervisor::announce() {
  const std::lock_guard guard(mutex_);
  is_ready_ = true;
  changed_.notify_all();
}

bool Supervisor::pause(std::chrono::milliseconds time) {
  std::unique_lock guard(mutex_);
  return !changed_.wait_for(guard, time, [this] { return is_stopping_; });
}

bool Supervisor::pause_before_next_try() {
  const auto time = std::exchange(backoff_, std::min(backoff_ * 2, kBackoffMost));
  return pause(time);
}

void Supervisor::say(LogLevel level, const std::string& text) const {
  if (log_) log_(level, text);
}

}  // namespace duly::embedded
