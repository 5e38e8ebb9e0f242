#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "duly/error.h"

namespace duly::fuzz {

/// What libFuzzer gives, as text.
inline std::string_view as_text(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// Ends the fuzzer with this input kept, and says why.
inline void expect(bool holds, const char* claim, const std::string& found = {}) {
  if (holds) return;
  std::fprintf(stderr, "expected: %s\nfound: %s\n", claim, found.c_str());
  std::abort();
}

/// Whether `parse` took its text; what it refuses must be an invalid argument.
template <class Parse>
bool takes(Parse parse) {
  try {
    parse();
    return true;
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::invalid_argument, "invalid_argument", error.what());
    return false;
  }
}

}  // namespace duly::fuzz
