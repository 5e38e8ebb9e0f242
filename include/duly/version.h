#pragma once

#include <string_view>

namespace duly {

/// Of the program, and of the function library that it loads into Redis.
inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace duly
