#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "duly/error.h"
#include "src/embedded/embedded.h"

namespace duly::testing {

/// Another process that opens the private Redis of one folder when told to. Make it before any
/// EmbeddedRedis of the test itself: a process with threads cannot be forked like this. Its own
/// process group; SIGINT does not end it.
class Peer {
 public:
  explicit Peer(const std::filesystem::path& folder) {
    if (::pipe(orders_.data()) != 0 || ::pipe(answers_.data()) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) live(folder);
    ::close(orders_[0]);
    ::close(answers_[1]);
  }
  ~Peer() {
    ::close(orders_[1]);  // Ends it in peace, unless it has been killed.
    ::close(answers_[0]);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// 'o' owner, 'j' joined, 'u' and 'i' for the errors unavailable and invalid_argument.
  char open() const {
    order_open();
    return answer();
  }
  void order_open() const { order('s'); }
  char role() const {
    order('r');
    return answer();
  }
  /// Ends its EmbeddedRedis; the process stays.
  char shut() const {
    order('e');
    return answer();
  }
  [[nodiscard]] char answer() const {
    char word = 0;
    return ::read(answers_[0], &word, 1) == 1 ? word : '!';
  }

  /// Like a power cut for this process alone.
  void kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  void order(char word) const {
    if (::write(orders_[1], &word, 1) != 1) std::abort();
  }

  [[noreturn]] void live(const std::filesystem::path& folder) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);
    std::signal(SIGINT, SIG_IGN);
    ::close(orders_[1]);
    ::close(answers_[0]);
    std::unique_ptr<EmbeddedRedis> redis;
    char word = 0;
    while (::read(orders_[0], &word, 1) == 1) {
      char reply = 'k';
      if (word == 's') reply = open_here(folder, redis);
      if (word == 'r') reply = role_of(*redis);
      if (word == 'e') redis.reset();
      if (::write(answers_[1], &reply, 1) != 1) break;
    }
    redis.reset();
    ::_exit(0);
  }

  static char role_of(const EmbeddedRedis& redis) { return redis.is_owner() ? 'o' : 'j'; }

  static char open_here(const std::filesystem::path& folder,
                        std::unique_ptr<EmbeddedRedis>& redis) {
    try {
      redis = std::make_unique<EmbeddedRedis>(folder, nullptr);
      return role_of(*redis);
    } catch (const Error& error) {
      return to_string(error.code()).front();
    }
  }

  std::array<int, 2> orders_{};
  std::array<int, 2> answers_{};
  pid_t pid_ = -1;
};

}  // namespace duly::testing
