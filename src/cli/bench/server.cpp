#include "src/cli/bench/server.h"

#include <arpa/inet.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <sstream>
#include <thread>
#include <vector>

#include "bench/floor.h"
#include "duly/error.h"

namespace duly::cli {
namespace {

using std::chrono::steady_clock;

// Another program may take the port between our look and the start.
constexpr int kTries = 5;
constexpr std::chrono::seconds kStartWithin{5};

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  const bool is_bound =
      ::bind(socket, plain, length) == 0 && ::getsockname(socket, plain, &length) == 0;
  ::close(socket);
  if (!is_bound) throw Error(ErrorCode::unavailable, "bench: no free port at 127.0.0.1");
  return ntohs(address.sin_port);
}

/// In the forked child: only calls that are safe there.
[[noreturn]] void become(char* const* argv, int log) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execvp(argv[0], argv);
  ::_exit(127);
}

/// The value behind "name" in a reply of INFO.
double value_of(const std::string& info, const std::string& name) {
  const auto at = info.find(name);
  if (at == std::string::npos) throw Error(ErrorCode::internal, "INFO: no " + name);
  return std::stod(info.substr(at + name.size()));
}

/// What duly's client sends by itself; all else that Redis counts comes from inside the functions.
bool is_sent(const std::string& command) {
  static constexpr std::array kSent{"fcall",       "fcall_ro",   "evalsha",     "evalsha_ro",
                                    "eval",        "sadd",       "smembers",    "ping",
                                    "hello",       "auth",       "select",      "subscribe",
                                    "unsubscribe", "ssubscribe", "sunsubscribe"};
  return std::find(kSent.begin(), kSent.end(), command) != kSent.end() ||
         command.starts_with("client|") || command.starts_with("function|") ||
         command.starts_with("script|");
}

}  // namespace

BenchServer::BenchServer(const std::filesystem::path& server) {
  for (int tries = 1;; ++tries) {
    start(server);
    if (await_ready()) return;
    const std::string words = last_words();
    stop();
    if (tries == kTries) {
      throw Error(ErrorCode::unavailable, server.string() + ": does not start: " + words);
    }
  }
}

BenchServer::~BenchServer() { stop(); }

void BenchServer::start(const std::filesystem::path& server) {
  port_ = free_port();
  log_ = ::memfd_create("redis.log", MFD_CLOEXEC);
  std::vector<std::string> words{server.string(),
                                 "--port",
                                 std::to_string(port_),
                                 "--bind",
                                 "127.0.0.1",
                                 "--save",
                                 "",
                                 "--appendonly",
                                 "no",
                                 "--dir",
                                 "/",
                                 "--daemonize",
                                 "no",
                                 "--protected-mode",
                                 "no"};
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) become(argv.data(), log_);
  if (pid_ < 0) throw Error(ErrorCode::unavailable, "bench: no process left for redis-server");
}

bool BenchServer::is_running() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

bool BenchServer::await_ready() {
  const auto until = steady_clock::now() + kStartWithin;
  while (steady_clock::now() < until && is_running()) {
    try {
      bench::RawLink link(port_);
      // Another server may have taken the port.
      if (value_of(link.ask({"INFO", "server"}).front(), "process_id:") == pid_) return true;
    } catch (const Error&) {  // Not yet.
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return false;
}

std::string BenchServer::last_words() const {
  std::array<char, 4096> text{};
  const auto size = ::lseek(log_, 0, SEEK_END);
  const auto from = std::max<off_t>(0, size - 300);
  const ssize_t got = ::pread(log_, text.data(), text.size(), from);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got))};
}

void BenchServer::stop() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);  // It has nothing to save.
    ::waitpid(pid_, nullptr, 0);
  }
  if (log_ >= 0) ::close(log_);
  pid_ = log_ = -1;
}

std::string BenchServer::url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

Connection BenchServer::connect() const {
  return Connection(
      {.redis = url(), .client_name = "duly-bench", .timeout = std::chrono::minutes{1}});
}

double BenchServer::used_memory() const {
  bench::RawLink link(port_);
  return value_of(link.ask({"INFO", "memory"}).front(), "used_memory:");
}

BenchServer::Commands BenchServer::commands() const {
  bench::RawLink link(port_);
  std::istringstream info(link.ask({"INFO", "commandstats"}).front());
  Commands commands;
  const std::string begin = "cmdstat_";
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with(begin)) continue;
    const std::string name = line.substr(begin.size(), line.find(':') - begin.size());
    if (name == "info") continue;
    (is_sent(name) ? commands.sent : commands.nested) += value_of(line, "calls=");
  }
  return commands;
}

}  // namespace duly::cli
