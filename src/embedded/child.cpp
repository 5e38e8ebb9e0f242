#include "src/embedded/child.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>
#include <vector>

#include "duly/error.h"

namespace duly::embedded {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr off_t kLogMost =
    off_t{1024} * 1024;                // Bytes; a larger log is put aside at the next start.
constexpr std::size_t kWordsMost = 3;  // Log lines in an error.
constexpr int kLockNumber = STDERR_FILENO + 1;

bool is_program(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code) && ::access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> on_path(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return is_program(name) ? std::optional(fs::absolute(name)) : std::nullopt;
  }
  const char* found = std::getenv("PATH");
  std::string_view rest = found == nullptr ? "" : found;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const fs::path program = fs::path(rest.substr(0, end)) / name;
    // An empty or relative entry would run what lies in the current folder.
    if (program.is_absolute() && is_program(program)) return program;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::vector<std::string> arguments(const fs::path& server, const Folder& folder) {
  return {server.string(),
          "--port",
          "0",
          "--unixsocket",
          folder.socket_for_server(),
          "--unixsocketperm",
          "700",
          "--dir",
          folder.path().string(),
          "--appendonly",
          "yes",
          "--appendfsync",
          "everysec",
          "--save",
          "",
          "--daemonize",
          "no",
          "--logfile",
          folder.log_file().string(),
          "--maxmemory-policy",
          "noeviction"};
}

// Runs in the forked child of a process with threads: system calls only, no memory, no locks.
[[noreturn]] void become_server(char* const* argv, pid_t owner, int lock, int null, int log) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != owner) ::_exit(127);  // The owner was gone before the line above.
  ::setpgid(0, 0);  // Ctrl-C in the terminal is for the owner, which then ends us in its own time.
  ::umask(077);

  ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (lock == kLockNumber) {
    ::fcntl(lock, F_SETFD, 0);
  } else {
    ::dup2(lock, kLockNumber);
  }
  ::close_range(kLockNumber + 1, ~0U, 0);

  // What the application ignores or blocks must not be ignored or blocked in Redis.
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  ::execv(argv[0], argv);
  constexpr std::string_view kMessage = "the file is no program for this machine\n";
  if (::write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) ::_exit(126);
  ::_exit(127);
}

Error no_child(const fs::path& what, int code) {
  return {ErrorCode::unavailable, "private Redis: " + what.string() + ": " + std::strerror(code)};
}

}  // namespace

fs::path find_server() {
  if (const char* named = std::getenv("DULY_REDIS_SERVER"); named != nullptr && *named != '\0') {
    if (auto found = on_path(named)) return *found;
    throw Error(ErrorCode::unavailable,
                std::string("DULY_REDIS_SERVER: ") + named + ": not found, expected a program");
  }
  for (const char* name : {"redis-server", "valkey-server"}) {
    if (auto found = on_path(name)) return *found;
  }
  throw Error(
      ErrorCode::unavailable,
      "private Redis: neither redis-server nor valkey-server is on PATH; install one, or name a "
      "Redis with --redis or DULY_REDIS");
}

Child::Child(fs::path server, const Folder& folder, const Fd& lock)
    : server_(std::move(server)), log_file_(folder.log_file()) {
  struct stat log_found {};
  if (::stat(log_file_.c_str(), &log_found) == 0) {
    log_begin_ = log_found.st_size;
    if (log_begin_ > kLogMost &&
        ::rename(log_file_.c_str(), (log_file_.string() + ".old").c_str()) == 0) {
      log_begin_ = 0;
    }
  }
  // What the server says before it opens its log goes there too.
  const Fd log = Fd::open(log_file_.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (!log.is_open()) throw no_child(log_file_, errno);
  const Fd null = Fd::open("/dev/null", O_RDONLY);
  if (!null.is_open()) throw no_child("/dev/null", errno);

  std::vector<std::string> words = arguments(server_, folder);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  // No handler of the application may run in the child before its signals are reset.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t owner = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become_server(argv.data(), owner, lock.get(), null.get(), log.get());
  const int code = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) throw no_child(server_, code);
}

Child::~Child() { stop(10s); }

bool Child::is_gone() {
  if (!end_.empty()) return true;
  int status = 0;
  const pid_t found = ::waitpid(pid_, &status, WNOHANG);
  if (found == 0 || (found < 0 && errno == EINTR)) return false;
  if (found < 0) {
    end_ =
        "ended";  // The application ignores SIGCHLD or waits for all children: the status is lost.
  } else if (WIFSIGNALED(status)) {
    end_ = "was ended by signal " + std::to_string(WTERMSIG(status));
  } else {
    end_ = "ended with status " + std::to_string(WEXITSTATUS(status));
  }
  return true;
}

std::optional<std::string> Child::ended() {
  if (!is_gone()) return std::nullopt;
  const std::string words = last_words();
  return words.empty() ? end_ : end_ + ": " + words;
}

Child::Stop Child::stop(std::chrono::milliseconds within) {
  if (is_gone()) return Stop::stopped;
  ::kill(pid_, SIGTERM);
  const auto until = std::chrono::steady_clock::now() + within;
  auto step = 1ms;
  while (!is_gone()) {
    if (std::chrono::steady_clock::now() >= until) {
      ::kill(pid_, SIGKILL);
      while (!is_gone()) std::this_thread::sleep_for(1ms);
      return Stop::killed;
    }
    std::this_thread::sleep_for(step);
    step = std::min(step * 2, 20ms);
  }
  return Stop::stopped;
}

std::string Child::last_words() const {
  std::ifstream log(log_file_);
  log.seekg(0, std::ios::end);
  const auto end = static_cast<off_t>(log.tellg());
  constexpr off_t kTail = 4096;
  log.seekg(std::max(std::min(log_begin_, end), end - kTail));
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back(line);
    if (lines.size() > kWordsMost) lines.erase(lines.begin());
  }
  std::string words;
  for (const std::string& line : lines) words += (words.empty() ? "" : " | ") + line;
  return words;
}

}  // namespace duly::embedded
