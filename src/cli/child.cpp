#include "src/cli/child.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "src/cli/pipe.h"
#include "src/cli/spawn.h"

namespace duly::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kTail = 4096;
constexpr std::chrono::seconds kUntilKill{2};
// How long after its end we still read what it wrote: a grandchild may hold the pipe open for ever.
constexpr std::chrono::milliseconds kLastWords{100};
// Where the system cannot tell us of a child's end (no pidfd before Linux 5.3), we look so often.
constexpr std::chrono::milliseconds kLookForEnd{10};

/// Becomes readable when the child has ended; not open if the system has none for us.
Descriptor open_pidfd(pid_t child) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
}

/// Turns a stop into something that poll sees.
class StopEvent {
 public:
  explicit StopEvent(const std::stop_token& stop)
      : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), callback_(stop, Wake{event_.number()}) {
    if (!event_.is_open()) refuse_by_errno("eventfd", errno);
  }
  [[nodiscard]] int number() const { return event_.number(); }

 private:
  struct Wake {
    int number;
    void operator()() const {
      const std::uint64_t one = 1;
      while (::write(number, &one, sizeof one) < 0 && errno == EINTR) {
      }
    }
  };
  Descriptor event_;
  std::stop_callback<Wake> callback_;
};

/// Registers the group while it exists; the leader is reaped at the very end, so that its number is
/// not given to another process while we may still signal it.
class Group {
 public:
  Group(pid_t leader, RunningChildren& running) : leader_(leader), running_(running) {
    running_.add(leader_);
  }
  ~Group() {
    if (!ended()) signal(SIGKILL);  // Something went wrong on our side.
    running_.remove(leader_);
    while (::waitpid(leader_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] pid_t leader() const { return leader_; }

  void signal(int number) const { ::kill(-leader_, number); }

  /// How the leader ended; empty while it runs. Leaves it to be reaped.
  [[nodiscard]] std::optional<siginfo_t> ended() const {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOWAIT | WNOHANG) != 0 ||
        info.si_pid == 0) {
      return std::nullopt;
    }
    return info;
  }

 private:
  pid_t leader_;
  RunningChildren& running_;
};

/// Feeds, listens and watches until the child has ended and has said its last words.
class Conversation {
 public:
  Conversation(const ChildRun& run, RunningChildren& running, Pipe input, Pipe error)
      : left_(run.input),
        stop_event_(run.stop),
        group_(spawn_shell(run.command, run.environment, input.read_end.number(),
                           error.write_end.number()),
               running),
        end_event_(open_pidfd(group_.leader())),
        input_(std::move(input.write_end)),
        error_(std::move(error.read_end)) {
    input.read_end.close();  // The child has its own of these two; ours would hide its end.
    error.write_end.close();
    make_nonblocking(input_);
    make_nonblocking(error_);
    if (left_.empty()) input_.close();
  }

  ChildEnd run() {
    for (;;) {
      look_for_end();
      if (is_finished()) break;
      wait();
    }
    if (end_.was_stopped) group_.signal(SIGKILL);  // What it started and left behind.
    return std::move(end_);
  }

 private:
  void look_for_end() {
    if (ended_at_) return;
    const auto info = group_.ended();
    if (!info) return;
    ended_at_ = Clock::now();
    input_.close();
    (info->si_code == CLD_EXITED ? end_.exit_status : end_.signal) = info->si_status;
  }

  [[nodiscard]] bool is_finished() const {
    if (!ended_at_) return false;
    return !error_.is_open() || Clock::now() >= last_words_at();
  }

  [[nodiscard]] Clock::time_point last_words_at() const {
    return kill_at_ ? std::max(*kill_at_, *ended_at_) : *ended_at_ + kLastWords;
  }

  void wait() {
    std::array<pollfd, 4> polled{pollfd{input_.number(), POLLOUT, 0},
                                 pollfd{error_.number(), POLLIN, 0},
                                 pollfd{ended_at_ ? -1 : end_event_.number(), POLLIN, 0},
                                 pollfd{end_.was_stopped ? -1 : stop_event_.number(), POLLIN, 0}};
    ::poll(polled.data(), polled.size(), patience());
    if (polled[0].revents != 0) feed();
    if (polled[1].revents != 0) listen();
    if (polled[3].revents != 0) stop();
    if (kill_at_ && !is_killed_ && Clock::now() >= *kill_at_) {
      group_.signal(SIGKILL);
      is_killed_ = true;
    }
  }

  /// Milliseconds until something is to be done without an event; -1 for ever.
  [[nodiscard]] int patience() const {
    std::optional<Clock::duration> time;
    const auto at_most = [&time](Clock::duration other) {
      time = time ? std::min(*time, other) : other;
    };
    if (!ended_at_ && !end_event_.is_open()) at_most(kLookForEnd);
    if (ended_at_) at_most(last_words_at() - Clock::now());
    if (kill_at_ && !is_killed_) at_most(*kill_at_ - Clock::now());
    if (!time) return -1;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(*time).count();
    return static_cast<int>(std::max<std::int64_t>(ms, 0));
  }

  void feed() {
    const ssize_t count = ::write(input_.number(), left_.data(), left_.size());
    if (count > 0) left_.remove_prefix(static_cast<std::size_t>(count));
    const bool is_closed = count < 0 && errno != EAGAIN && errno != EINTR;  // It need not read.
    if (is_closed || left_.empty()) input_.close();
  }

  void listen() {
    std::array<char, 16'384> block{};
    const ssize_t count = ::read(error_.number(), block.data(), block.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      error_.close();
      return;
    }
    std::string& tail = end_.error_tail;
    tail.append(block.data(), static_cast<std::size_t>(count));
    if (tail.size() > kTail) tail.erase(0, tail.size() - kTail);
  }

  void stop() {
    end_.was_stopped = true;
    kill_at_ = Clock::now() + kUntilKill;
    group_.signal(SIGTERM);
  }

  std::string_view left_;
  StopEvent stop_event_;
  Group group_;
  Descriptor end_event_;
  Descriptor input_;
  Descriptor error_;
  ChildEnd end_{};
  std::optional<Clock::time_point> ended_at_{};
  std::optional<Clock::time_point> kill_at_{};
  bool is_killed_ = false;
};

}  // namespace

void RunningChildren::add(pid_t group) {
  const std::lock_guard lock(mutex_);
  groups_.insert(group);
  if (is_over_) ::kill(-group, SIGKILL);
}

void RunningChildren::remove(pid_t group) {
  const std::lock_guard lock(mutex_);
  groups_.erase(group);
}

void RunningChildren::kill_all() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  for (const pid_t group : groups_) ::kill(-group, SIGKILL);
}

ChildEnd run_child(const ChildRun& run, RunningChildren& running) {
  return Conversation(run, running, Pipe(), Pipe()).run();
}

}  // namespace duly::cli
