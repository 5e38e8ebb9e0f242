# cmake -DOUTPUT= -DFOLDER= -DVERSION= -P join_lua.cmake: one C++ file with the parts as string literals.
# A literal holds at most 60,000 bytes of Lua (compilers promise 65,536), so each part is one.
file(STRINGS ${FOLDER}/parts.txt parts)
set(body "")
foreach(part ${parts})
  file(READ ${FOLDER}/${part} text)
  string(REPLACE "@DULY_VERSION@" "${VERSION}" text "${text}")
  string(APPEND body "    {\"${part}\", R\"lua(${text})lua\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/join_lua.cmake from src/lua. Do not edit.
#include \"src/engine/library_text.h\"

namespace duly {

const std::vector<LibraryPart>& library_parts() {
  static const std::vector<LibraryPart> parts{
${body}  };
  return parts;
}

}  // namespace duly
")
