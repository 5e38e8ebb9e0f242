#include "tests/support/redis_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "tests/support/eventually.h"

namespace duly::testing {
namespace {

using Context = std::unique_ptr<redisContext, decltype(&redisFree)>;
using OwnedReply = std::unique_ptr<redisReply, void (*)(redisReply*)>;

constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};
constexpr int kStarts = 3;  // Somebody may take a free port before the server does.

std::string text_of(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_NIL) return "nil";
  if (reply.type == REDIS_REPLY_INTEGER) return std::to_string(reply.integer);
  if (reply.type != REDIS_REPLY_ARRAY) return {reply.str, reply.len};
  std::string text;
  for (std::size_t i = 0; i < reply.elements; ++i) {
    if (i > 0) text += ' ';
    text += text_of(*reply.element[i]);
  }
  return text;
}

std::string ask_over(redisContext* context, const std::vector<std::string>& words) {
  std::vector<const char*> argv;
  std::vector<std::size_t> lengths;
  for (const std::string& word : words) {
    argv.push_back(word.data());
    lengths.push_back(word.size());
  }
  void* const raw =
      redisCommandArgv(context, static_cast<int>(argv.size()), argv.data(), lengths.data());
  const OwnedReply reply(static_cast<redisReply*>(raw), [](redisReply* r) { freeReplyObject(r); });
  return reply ? text_of(*reply) : "gone";
}

std::string whole_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  const bool ok = fd >= 0 && ::bind(fd, raw, length) == 0 && ::getsockname(fd, raw, &length) == 0;
  ::close(fd);
  if (!ok) throw std::runtime_error("free port: none on 127.0.0.1");
  return ntohs(address.sin_port);
}

RedisServer::RedisServer(RedisServerOptions options) : options_(std::move(options)) {
  std::string pattern = "/tmp/duly-redis-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("folder in /tmp: not made");
  folder_ = pattern;
  for (int i = 1;; ++i) {
    if (options_.with_tcp) tcp_port_ = free_port();
    if (!options_.tls_certificate.empty()) tls_port_ = free_port();
    try {
      start();
      return;
    } catch (const std::runtime_error&) {
      if (i == kStarts) {
        std::filesystem::remove_all(folder_);
        throw;
      }
    }
  }
}

RedisServer::~RedisServer() {
  stop(SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string RedisServer::tcp_url() const {
  return "redis://127.0.0.1:" + std::to_string(tcp_port_);
}

std::string RedisServer::tls_url() const {
  return "rediss://127.0.0.1:" + std::to_string(tls_port_);
}

void RedisServer::kill(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

void RedisServer::stop(int signal) {
  if (pid_ <= 0) return;
  kill(signal);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void RedisServer::start() {
  launch();
  if (eventually([this] { return pid_ < 0 || answers(); }) && pid_ > 0) return;
  stop(SIGKILL);
  throw std::runtime_error("redis-server of the test: no answer\n" +
                           whole_file(folder_ / "redis.log"));
}

std::vector<std::string> RedisServer::command_line() const {
  std::vector<std::string> words{"redis-server",
                                 "--port",
                                 std::to_string(tcp_port_),
                                 "--bind",
                                 "127.0.0.1",
                                 "--unixsocket",
                                 socket_path(),
                                 "--dir",
                                 folder_.string(),
                                 "--save",
                                 "",
                                 "--appendonly",
                                 "no",
                                 "--daemonize",
                                 "no",
                                 "--enable-debug-command",
                                 "yes"};
  if (!options_.password.empty()) words.insert(words.end(), {"--requirepass", options_.password});
  if (tls_port_ != 0) {
    words.insert(words.end(),
                 {"--tls-port", std::to_string(tls_port_), "--tls-cert-file",
                  options_.tls_certificate.string(), "--tls-key-file", options_.tls_key.string(),
                  "--tls-ca-cert-file", options_.tls_ca.string(), "--tls-auth-clients",
                  options_.tls_asks_clients ? "yes" : "no"});
  }
  words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
  return words;
}

void RedisServer::launch() {
  std::vector<std::string> words = command_line();
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string log = (folder_ / "redis.log").string();
  const pid_t parent = ::getpid();

  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("redis-server of the test: not forked");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || ::dup2(fd, STDOUT_FILENO) < 0 || ::dup2(fd, STDERR_FILENO) < 0) ::_exit(1);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  pid_ = child;
}

bool RedisServer::answers() {
  if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
    pid_ = -1;
    return false;
  }
  return ask({"PING"}) == "PONG";
}

std::string RedisServer::ask(const std::vector<std::string>& words) const {
  const Context context(redisConnectUnixWithTimeout(socket_path().c_str(), kPatience), &redisFree);
  if (!context || context->err != 0) return "gone";
  redisSetTimeout(context.get(), kPatience);
  if (!options_.password.empty()) ask_over(context.get(), {"AUTH", options_.password});
  return ask_over(context.get(), words);
}

}  // namespace duly::testing
