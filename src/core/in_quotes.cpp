#include "src/core/in_quotes.h"

#include "src/core/bytes.h"

namespace duly::core {
namespace {

constexpr std::size_t kMost = 60;

}  // namespace

std::string in_quotes(std::string_view text) {
  const std::string_view shown = cut_utf8(text, kMost);
  return '"' + printable(shown) + (shown.size() < text.size() ? "...\"" : "\"");
}

}  // namespace duly::core
