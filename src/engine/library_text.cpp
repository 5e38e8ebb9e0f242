#include "src/engine/library_text.h"

namespace duly {
namespace {

std::string join(std::string text, const std::vector<LibraryPart>& parts,
                 std::string_view without) {
  for (const LibraryPart& part : parts) {
    if (part.name != without) text += part.text;
  }
  return text;
}

}  // namespace

std::string function_text(const std::vector<LibraryPart>& parts) {
  return join("#!lua name=duly\n", parts, "dispatch.lua");
}

std::string script_text(const std::vector<LibraryPart>& parts) {
  return join("", parts, "register.lua");
}

}  // namespace duly
