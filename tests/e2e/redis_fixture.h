#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "src/redis/io.h"
#include "src/redis/standalone.h"
#include "tests/support/eventually.h"

namespace duly::testing {

using redis::Command;
using redis::Ending;
using redis::Io;
using redis::LinkOptions;
using redis::Topology;
using Kind = redis::Ending::Kind;

/// One connection to one server, with all that it needs, and what it has logged.
class OneLink {
 public:
  explicit OneLink(const std::string& url, LinkOptions options = {}) {
    options.url = redis::parse_url(url);
    options.log = [this](LogLevel level, const std::string& text) {
      const std::lock_guard lock(mutex_);
      log_ += std::string(level == LogLevel::warning ? "warning " : "info ") + text + "\n";
    };
    topology_ = redis::make_standalone(io_, std::move(options));
  }

  std::future<Ending> send(Command command,
                           std::chrono::milliseconds within = std::chrono::seconds{5}) {
    auto ended = std::make_shared<std::promise<Ending>>();
    topology_->send("key", std::move(command), std::chrono::steady_clock::now() + within,
                    [ended](Ending ending) { ended->set_value(std::move(ending)); });
    return ended->get_future();
  }
  Ending ask(Command command, std::chrono::milliseconds within = std::chrono::seconds{5}) {
    return send(std::move(command), within).get();
  }
  /// The text of a reply; for other endings their reason.
  std::string text_of(Command command) {
    const Ending ending = ask(std::move(command));
    return ending.kind == Kind::done ? ending.reply.text : ending.reason;
  }

  [[nodiscard]] std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  [[nodiscard]] bool has_logged(const std::string& part) {
    return log().find(part) != std::string::npos;
  }

  Io& io() { return io_; }
  Topology& topology() { return *topology_; }
  void drop_topology() { topology_.reset(); }

 private:
  std::mutex mutex_;
  std::string log_;
  Io io_;
  std::shared_ptr<Topology> topology_;
};

inline std::string word_of(Kind kind) {
  return kind == Kind::done ? "done" : kind == Kind::not_done ? "not_done" : "unknown";
}

/// How long something takes.
template <class F>
std::chrono::milliseconds time_of(F work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               begin);
}

}  // namespace duly::testing
