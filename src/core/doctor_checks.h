#pragma once

#include <optional>
#include <string>

#include "src/core/doctor.h"

/// For the files of doctor alone: the checks that stand in doctor_data.cpp, and what all share.
namespace duly::core::doctor {

inline constexpr auto kReadInfo = "grant +info to this user, or run doctor as another";
inline constexpr auto kReadConfig = "grant +config|get to this user, or run doctor as another";

inline bool is_on(const std::optional<std::string>& value) {
  return value == "1" || value == "yes";
}

/// The verdict where the server tells nothing.
Check unknown(std::string name, const Table& table, std::string advice);

Check persistence(const ServerFacts& facts);
Check writing(const ServerFacts& facts);
Check eviction(const ServerFacts& facts);
Check evicted(const ServerFacts& facts);
Check memory(const ServerFacts& facts);
Check forecast(const ServerFacts& facts);

}  // namespace duly::core::doctor
