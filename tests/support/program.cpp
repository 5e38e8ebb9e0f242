#include "tests/support/program.h"

#include <pty.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace duly::testing {
namespace {

/// A file without a name: the program may write as much as it likes and waits for nobody.
int make_file(const std::string& bytes = {}) {
  const int file = ::memfd_create("program", MFD_CLOEXEC);
  if (file < 0) throw std::runtime_error("memfd_create");
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + at, bytes.size() - at);
    if (count <= 0) throw std::runtime_error("write");
    at += static_cast<std::size_t>(count);
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

std::string read_file(int file) {
  std::string bytes;
  std::array<char, 65'536> block{};
  for (;;) {
    const ssize_t count =
        ::pread(file, block.data(), block.size(), static_cast<off_t>(bytes.size()));
    if (count <= 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(count));
  }
}

std::vector<char*> pointers_of(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Becomes the program; for a child.
[[noreturn]] void become(const std::vector<char*>& pointers, const ProgramOptions& options) {
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execvp(pointers[0], pointers.data());
  ::_exit(127);
}

void set_status(ProgramEnd& end, int status) {
  if (WIFEXITED(status)) {
    end.status = WEXITSTATUS(status);
  } else {
    end.signal = WTERMSIG(status);
  }
}

}  // namespace

Program::Program(std::vector<std::string> arguments, ProgramOptions options)
    : input_(make_file(options.input)), out_(make_file()), err_(make_file()) {
  const std::vector<char*> pointers = pointers_of(arguments);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);
  ::dup2(input_, STDIN_FILENO);
  ::dup2(out_, STDOUT_FILENO);
  ::dup2(err_, STDERR_FILENO);
  become(pointers, options);
}

Program::~Program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  for (const int file : {input_, out_, err_}) ::close(file);
}

void Program::signal(int number) const { ::kill(pid_, number); }

ProgramEnd Program::wait() {
  int status = 0;
  rusage usage{};
  while (::wait4(pid_, &status, 0, &usage) < 0) {
    if (errno != EINTR) throw std::runtime_error("wait4");
  }
  pid_ = 0;
  ProgramEnd end{.out = out(), .err = err(), .most_memory_kib = usage.ru_maxrss};
  set_status(end, status);
  return end;
}

std::string Program::out() const { return read_file(out_); }
std::string Program::err() const { return read_file(err_); }

ProgramEnd run_on_terminal(std::vector<std::string> arguments, const std::string& prompt,
                           ProgramOptions options) {
  const std::vector<char*> pointers = pointers_of(arguments);
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child < 0) throw std::runtime_error("forkpty");
  if (child == 0) become(pointers, options);
  std::string left = std::move(options.input);
  ProgramEnd end;
  std::array<char, 4096> block{};
  for (ssize_t count = 0; (count = ::read(terminal, block.data(), block.size())) > 0;) {
    end.out.append(block.data(), static_cast<std::size_t>(count));
    if (left.empty() || end.out.find(prompt) == std::string::npos) continue;
    if (::write(terminal, left.data(), left.size()) < 0) throw std::runtime_error("write");
    left.clear();
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  set_status(end, status);
  return end;
}

ProgramEnd run_program(std::vector<std::string> arguments, ProgramOptions options) {
  return Program(std::move(arguments), std::move(options)).wait();
}

}  // namespace duly::testing
