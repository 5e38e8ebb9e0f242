#include "src/core/quoted.h"

#include "src/core/bytes.h"

namespace duly::core {
namespace {

constexpr std::size_t kMost = 60;

}  // namespace

std::string quoted(std::string_view text) {
  const std::string_view shown = cut_utf8(text, kMost);
  return '"' + printable(shown) + (shown.size() < text.size() ? "...\"" : "\"");
}

}  // namespace duly::core
