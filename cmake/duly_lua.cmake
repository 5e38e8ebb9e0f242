# Joins the Lua parts, in this order, into one generated source file: no Lua stands inside C++ strings.
# The parts are listed in src/lua/parts.txt; src/engine/library.cpp picks the ending.
set(DULY_LUA_SOURCE ${PROJECT_BINARY_DIR}/generated/library_text.cpp)
file(STRINGS ${PROJECT_SOURCE_DIR}/src/lua/parts.txt DULY_LUA_PARTS)
list(TRANSFORM DULY_LUA_PARTS PREPEND ${PROJECT_SOURCE_DIR}/src/lua/)
add_custom_command(
  OUTPUT ${DULY_LUA_SOURCE}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${DULY_LUA_SOURCE} -DFOLDER=${PROJECT_SOURCE_DIR}/src/lua
          -DVERSION=${PROJECT_VERSION} -P ${PROJECT_SOURCE_DIR}/cmake/join_lua.cmake
  DEPENDS ${DULY_LUA_PARTS} ${PROJECT_SOURCE_DIR}/src/lua/parts.txt ${PROJECT_SOURCE_DIR}/cmake/join_lua.cmake
  COMMENT "Joining the Lua library" VERBATIM)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/lua/parts.txt)
