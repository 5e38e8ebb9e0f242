# Warnings, sanitizers, ccache and clang-tidy, in one interface target for duly's own code.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

if(DULY_TIDY)
  find_program(CLANG_TIDY_PROGRAM NAMES clang-tidy REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY ${CLANG_TIDY_PROGRAM} --quiet --extra-arg=-Wno-unknown-warning-option)
endif()

add_library(duly_flags INTERFACE)
target_compile_options(duly_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                            -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers)
# GCC 12 sees overlapping copies in `"text" + std::string` where there are none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(duly_flags INTERFACE -Wno-restrict)
endif()
# In joined files GCC takes a class of an unnamed namespace for one of a header.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(duly_flags INTERFACE -Wno-subobject-linkage)
endif()
if(DULY_WERROR)
  target_compile_options(duly_flags INTERFACE -Werror)
endif()
# Tests are compiled plainly: to optimise them takes longer than to run them.
target_compile_options(duly_flags INTERFACE $<$<BOOL:$<TARGET_PROPERTY:DULY_IS_TEST>>:-O0>)
# What is built for tests is compiled without the undefined-behaviour sanitizer: it takes as long again, and looks for
# mistakes of the tests alone.
if(DULY_SANITIZE)
  target_compile_options(duly_flags INTERFACE
    -fsanitize=${DULY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -O0 -g1
    $<$<BOOL:$<TARGET_PROPERTY:DULY_IS_TEST>>:-fno-sanitize=undefined>)
  target_link_options(duly_flags INTERFACE -fsanitize=${DULY_SANITIZE})
  # GCC says of each fence of Boost.Asio that the thread sanitizer does not see it; the locks beside it do.
  if(DULY_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(duly_flags INTERFACE -Wno-tsan)
  endif()
endif()
