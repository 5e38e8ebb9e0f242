#pragma once

#include <unistd.h>

#include <string>
#include <utility>

namespace duly::cli {

/// Owns a descriptor; -1 is none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  void close() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

/// A pipe whose ends no child inherits by accident.
struct Pipe {
  Pipe();  ///< Errors  internal: no descriptor left.
  Descriptor read_end;
  Descriptor write_end;
};

/// For what the system refuses. Throws internal: object and errno's text.
[[noreturn]] void refuse_by_errno(const std::string& object, int number);

void make_nonblocking(const Descriptor& descriptor);

}  // namespace duly::cli
