#include "src/cli/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "duly/error.h"

namespace duly::cli {
namespace {

[[noreturn]] void refuse(const std::string& name) {
  throw Error(ErrorCode::invalid_argument, name + ": " + std::strerror(errno));
}

}  // namespace

InputFile::InputFile(const std::string& path)
    : name_(path == "-" ? "standard input" : "file " + path),
      descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) refuse(name_);
}

InputFile::~InputFile() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::size_t InputFile::read(char* into, std::size_t size) {
  for (;;) {
    const ssize_t count = ::read(descriptor_, into, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) refuse(name_);
  }
}

bool InputFile::is_ready() const {
  pollfd input{descriptor_, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

std::optional<std::size_t> InputFile::size() const {
  struct stat found {};
  if (::fstat(descriptor_, &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return static_cast<std::size_t>(found.st_size);
}

}  // namespace duly::cli
