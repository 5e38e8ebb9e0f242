#pragma once

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "duly/error.h"
#include "src/embedded/embedded.h"
#include "tests/support/eventually.h"

namespace duly::testing {

/// A folder in /tmp for the data of private Redis servers; after each test nothing runs there.
class Embedded : public ::testing::Test {
 protected:
  Embedded() {
    std::string pattern = "/tmp/duly-embedded-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    data_ = root_ / "data";
  }
  ~Embedded() override { std::filesystem::remove_all(root_); }

  void TearDown() override {
    EXPECT_TRUE(eventually([this] { return servers().empty(); })) << "a server is still running";
  }

  [[nodiscard]] std::unique_ptr<EmbeddedRedis> open() { return open(data_); }
  [[nodiscard]] std::unique_ptr<EmbeddedRedis> open(const std::filesystem::path& folder) {
    return std::make_unique<EmbeddedRedis>(folder, [this](LogLevel, const std::string& text) {
      const std::lock_guard guard(log_mutex_);
      log_ += text + "\n";
    });
  }

  /// "unavailable: ..." of an open that must not work.
  [[nodiscard]] std::string refusal() { return refusal(data_); }
  [[nodiscard]] std::string refusal(const std::filesystem::path& folder) {
    try {
      const auto redis = open(folder);
      return "it started";
    } catch (const Error& error) {
      return std::string(to_string(error.code())) + ": " + error.what();
    }
  }

  [[nodiscard]] std::string log() {
    const std::lock_guard guard(log_mutex_);
    return log_;
  }
  [[nodiscard]] std::string redis_log() const {
    std::ostringstream text;
    text << std::ifstream(data_ / "redis.log").rdbuf();
    return text.str();
  }

  /// The reply as text; "nil"; "gone" when there is no server or it goes away.
  [[nodiscard]] std::string ask(std::initializer_list<const char*> words) const {
    return ask_at((data_ / "redis.sock").string(), words);
  }
  [[nodiscard]] static std::string ask_at(const std::string& socket,
                                          std::initializer_list<const char*> words) {
    const std::unique_ptr<redisContext, decltype(&redisFree)> link(redisConnectUnix(socket.c_str()),
                                                                   &redisFree);
    if (!link || link->err != 0) return "gone";
    std::vector<const char*> argv(words);
    void* raw = redisCommandArgv(link.get(), static_cast<int>(argv.size()), argv.data(), nullptr);
    if (raw == nullptr) return "gone";
    const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
        static_cast<redisReply*>(raw), &freeReplyObject);
    if (reply->type == REDIS_REPLY_NIL) return "nil";
    if (reply->type == REDIS_REPLY_INTEGER) return std::to_string(reply->integer);
    if (reply->type == REDIS_REPLY_ARRAY) {
      std::string text;
      for (std::size_t i = 0; i < reply->elements; ++i) {
        text += (i == 0 ? "" : " ") + std::string(reply->element[i]->str, reply->element[i]->len);
      }
      return text;
    }
    return {reply->str, reply->len};
  }
  /// Redis itself waits for a second: the way to see that no shutdown is under way.
  [[nodiscard]] bool lives_on() const { return ask({"BLPOP", "nothing", "1"}) == "nil"; }

  /// The servers that work in a folder of this test.
  [[nodiscard]] std::vector<pid_t> servers() const {
    std::vector<pid_t> found;
    std::error_code code;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", code)) {
      const std::string name = entry.path().filename();
      if (!std::all_of(name.begin(), name.end(),
                       [](unsigned char c) { return std::isdigit(c) != 0; })) {
        continue;
      }
      const auto cwd = std::filesystem::read_symlink(entry.path() / "cwd", code);
      if (!code && cwd.string().starts_with(root_.string())) found.push_back(std::stoi(name));
    }
    return found;
  }
  [[nodiscard]] pid_t the_server() const {
    const auto found = servers();
    EXPECT_EQ(found.size(), 1U);
    return found.size() == 1 ? found.front() : -1;
  }

  /// An executable file of this test that the shell runs; written again, it changes at once.
  std::string script(const std::string& text) const {
    const auto path = root_ / "server-script";
    const auto fresh = root_ / "server-script.new";
    std::ofstream(fresh) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(fresh, std::filesystem::perms::owner_all);
    std::filesystem::rename(fresh, path);
    return path.string();
  }

  std::filesystem::path root_;
  std::filesystem::path data_;

 private:
  std::mutex log_mutex_;
  std::string log_;
};

/// Sets a variable of the environment, and puts back what was there.
class Environment {
 public:
  Environment(std::string name, const std::string& value) : name_(std::move(name)) {
    const char* before = std::getenv(name_.c_str());
    was_set_ = before != nullptr;
    if (was_set_) before_ = before;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    if (was_set_) {
      ::setenv(name_.c_str(), before_.c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string name_;
  std::string before_;
  bool was_set_ = false;
};

}  // namespace duly::testing
