#include "src/cli/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace duly::cli {
namespace {

int descriptor_of(Stream stream) {
  switch (stream) {
    case Stream::in:
      return STDIN_FILENO;
    case Stream::out:
      return STDOUT_FILENO;
    case Stream::err:
      break;
  }
  return STDERR_FILENO;
}

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::bold:
      return "1";
    case Colour::dim:
      return "2";
    case Colour::red:
      return "31";
    case Colour::green:
      return "32";
    case Colour::yellow:
      return "33";
    case Colour::blue:
      return "34";
    case Colour::plain:
      break;
  }
  return "0";
}

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

}  // namespace

void open_missing_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest free number is the answer, and that is this one.
    if (::fcntl(number, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  }
}

bool is_terminal(Stream stream) { return ::isatty(descriptor_of(stream)) == 1; }

bool has_colours(Stream stream) {
  const std::string_view terminal = environment("TERM");
  return is_terminal(stream) && environment("NO_COLOR").empty() && !terminal.empty() &&
         terminal != "dumb";
}

std::string in_colour(Colour colour, std::string_view text) {
  static const bool is_on = has_colours(Stream::out);
  if (!is_on || colour == Colour::plain || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code_of(colour)) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace duly::cli
