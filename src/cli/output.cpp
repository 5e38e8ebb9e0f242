#include "src/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "duly/error.h"
#include "src/core/bytes.h"

namespace duly::cli {
namespace {

[[noreturn]] void refuse_output() {
  if (errno == EPIPE) throw OutputClosed{};
  throw Error(ErrorCode::internal, std::string("standard output: ") + std::strerror(errno));
}

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) refuse_output();
}

void print_line(std::string_view text) {
  print(text);
  print("\n");
}

void print_json(const Json& value) { print_line(to_text(value)); }

void flush_output() {
  if (std::fflush(stdout) != 0) refuse_output();
}

std::string to_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add_bytes(Json& object, const std::string& name, std::string_view bytes) {
  if (core::is_utf8(bytes)) {
    object[name] = bytes;
  } else {
    object[name + "_base64"] = core::base64_encode(bytes);
  }
}

}  // namespace duly::cli
