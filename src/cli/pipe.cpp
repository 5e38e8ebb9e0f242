#include "src/cli/pipe.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "duly/error.h"

namespace duly::cli {

Pipe::Pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) refuse_by_errno("pipe", errno);
  read_end = Descriptor(ends[0]);
  write_end = Descriptor(ends[1]);
}

void refuse_by_errno(const std::string& object, int number) {
  throw Error(ErrorCode::internal, object + ": " + std::strerror(number));
}

void make_nonblocking(const Descriptor& descriptor) {
  const int flags = ::fcntl(descriptor.number(), F_GETFL);
  if (flags < 0 || ::fcntl(descriptor.number(), F_SETFL, flags | O_NONBLOCK) < 0) {
    refuse_by_errno("pipe", errno);
  }
}

}  // namespace duly::cli
