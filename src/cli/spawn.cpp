#include "src/cli/spawn.h"

#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>

#include "src/cli/pipe.h"

namespace duly::cli {
namespace {

struct Attributes {
  posix_spawnattr_t value{};
  Attributes() { posix_spawnattr_init(&value); }
  ~Attributes() { posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
};

struct FileActions {
  posix_spawn_file_actions_t value{};
  FileActions() { posix_spawn_file_actions_init(&value); }
  ~FileActions() { posix_spawn_file_actions_destroy(&value); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
};

/// Our environment with some names set anew.
std::vector<std::string> merged(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool is_replaced = std::any_of(added.begin(), added.end(), [text](const auto& pair) {
      return text.starts_with(pair.first + "=");
    });
    if (!is_replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

}  // namespace

pid_t spawn_shell(const std::string& command,
                  const std::vector<std::pair<std::string, std::string>>& environment, int input,
                  int error) {
  FileActions files;
  posix_spawn_file_actions_adddup2(&files.value, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files.value, error, STDERR_FILENO);

  Attributes attributes;
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes.value, &none);
  posix_spawnattr_setsigdefault(&attributes.value, &all);
  posix_spawnattr_setpgroup(&attributes.value, 0);
  posix_spawnattr_setflags(&attributes.value,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> entries = merged(environment);
  std::vector<char*> pointers;
  for (std::string& entry : entries) pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  std::string shell = "sh";
  std::string flag = "-c";
  std::string text = command;
  std::array<char*, 4> arguments{shell.data(), flag.data(), text.data(), nullptr};

  pid_t child = 0;
  const int problem = ::posix_spawn(&child, "/bin/sh", &files.value, &attributes.value,
                                    arguments.data(), pointers.data());
  if (problem != 0) refuse_by_errno("sh", problem);
  return child;
}

}  // namespace duly::cli
