#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace duly::embedded {

/// Owns one file descriptor and closes it.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

  /// open(2), closed on exec and never one of the three standard numbers, which a forked child
  /// fills anew. Not open when the call fails; errno says why.
  static Fd open(const char* path, int flags, mode_t mode = 0) {
    Fd fd(::open(path, flags | O_CLOEXEC, mode));
    if (fd.number_ < 0 || fd.number_ > STDERR_FILENO) return fd;
    return Fd(::fcntl(fd.number_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }

 private:
  int number_ = -1;
};

}  // namespace duly::embedded
