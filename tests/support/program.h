#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace duly::testing {

struct ProgramOptions {
  std::string input{};                                             ///< Its standard input.
  std::vector<std::pair<std::string, std::string>> environment{};  ///< Beside ours.
};

struct ProgramEnd {
  int status = -1;  ///< Exit status; -1 if a signal ended it.
  int signal = 0;
  std::string out{};
  std::string err{};
  long most_memory_kib = 0;  ///< Of its resident memory.
};

/// A program that runs beside the test; killed at the latest with this object, or the test.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments, ProgramOptions options = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Waits for its end.
  ProgramEnd wait();

  /// What it has written so far.
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;

 private:
  int input_;
  int out_;
  int err_;
  pid_t pid_ = 0;
};

/// Runs a program to its end on a terminal of its own, on which `options.input` is typed once
/// `prompt` has been shown; all that is shown there is `out`.
ProgramEnd run_on_terminal(std::vector<std::string> arguments, const std::string& prompt,
                           ProgramOptions options = {});

/// Runs a program to its end.
ProgramEnd run_program(std::vector<std::string> arguments, ProgramOptions options = {});

}  // namespace duly::testing
