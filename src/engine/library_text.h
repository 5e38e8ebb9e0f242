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

/// All parts; register.lua ends the text of a function library, dispatch.lua that of a script.
const std::vector<LibraryPart>& library_parts();

/// The text for FUNCTION LOAD.
std::string function_text(const std::vector<LibraryPart>& parts);

/// The text for SCRIPT LOAD, on servers that have or grant no functions.
std::string script_text(const std::vector<LibraryPart>& parts);

}  // namespace duly
