# Every outside library, found once. docs/dependencies.md says why each is here.
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Boost 1.81 REQUIRED CONFIG)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

find_package(PkgConfig REQUIRED)
pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)

if(DULY_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
