#pragma once

#include <optional>
#include <string_view>

#include "duly/engines.h"

namespace duly::cli {

/// Nothing if there is no such engine.
inline std::optional<EngineName> engine_of_name(std::string_view name) {
  for (const EngineName engine : kEngineNames) {
    if (to_string(engine) == name) return engine;
  }
  return {};
}

}  // namespace duly::cli
