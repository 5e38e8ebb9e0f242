# `cmake --install`: the library with its headers, the program, and what CMake and pkg-config need to find
# them. The prefix can be moved. Users need Debian's libhiredis-dev and libssl-dev to link, no other library.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(DULY_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/duly)

install(TARGETS duly EXPORT duly_targets)
install(EXPORT duly_targets NAMESPACE duly:: DESTINATION ${DULY_CMAKE_FOLDER})
install(DIRECTORY include/duly TYPE INCLUDE FILES_MATCHING PATTERN *.h)
install(FILES LICENSE TYPE DOC)
if(TARGET duly_tool)
  install(TARGETS duly_tool)
endif()
if(TARGET duly_texts)
  install(FILES ${PROJECT_BINARY_DIR}/texts/duly DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_BINARY_DIR}/texts/_duly DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${PROJECT_BINARY_DIR}/texts/duly.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

configure_package_config_file(cmake/duly-config.cmake.in duly-config.cmake
                              INSTALL_DESTINATION ${DULY_CMAKE_FOLDER})
# Until 1.0 a new minor version may change the interface.
write_basic_package_version_file(duly-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/duly-config.cmake ${PROJECT_BINARY_DIR}/duly-config-version.cmake
        DESTINATION ${DULY_CMAKE_FOLDER})

# The way from the folder of duly.pc back to the prefix.
file(RELATIVE_PATH DULY_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" DULY_PC_TO_PREFIX "${DULY_PC_TO_PREFIX}")
configure_file(cmake/duly.pc.in duly.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/duly.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
