#include "tests/support/fake_clock.h"

#include <stdlib.h>

#include <fstream>
#include <stdexcept>

namespace duly::testing {
namespace {

namespace fs = std::filesystem;

/// Debian keeps it in a folder of the architecture.
std::string library() {
  for (const fs::directory_entry& folder : fs::directory_iterator("/usr/lib")) {
    const fs::path file = folder.path() / "faketime" / "libfaketimeMT.so.1";
    if (fs::exists(file)) return file.string();
  }
  throw std::runtime_error("libfaketime: not found, expected Debian's package libfaketime");
}

}  // namespace

FakeClock::FakeClock(const std::string& time) {
  std::string name = (fs::temp_directory_path() / "duly-clock-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("fake clock: not made");
  folder_ = name;
  set(time);
}

FakeClock::~FakeClock() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

// In one step, as the programs may read it at any moment.
void FakeClock::set(const std::string& time) const {
  std::ofstream(folder_ / "new") << time << '\n';
  fs::rename(folder_ / "new", folder_ / "time");
}

std::vector<std::pair<std::string, std::string>> FakeClock::environment() const {
  return {{"LD_PRELOAD", library()},
          {"FAKETIME_TIMESTAMP_FILE", (folder_ / "time").string()},
          {"FAKETIME_NO_CACHE", "1"},
          {"DONT_FAKE_MONOTONIC", "1"},
          {"FAKETIME_DONT_RESET", "1"},
          // A sanitized program would insist on being loaded first.
          {"ASAN_OPTIONS", "verify_asan_link_order=0"}};
}

}  // namespace duly::testing
