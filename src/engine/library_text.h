#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace duly {

/// One file of src/lua, in the order of parts.txt.
struct LibraryPart {
  std::string_view name;
  std::string_view text;
};

const std::vector<LibraryPart>& library_parts();

}  // namespace duly
