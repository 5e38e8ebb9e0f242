#pragma once

#include <optional>

#include "duly/error.h"
#include "duly/import.h"

namespace duly::core {

/// Errors  invalid_argument: a key is empty, duly's own, or given twice; a wrong job.
std::optional<Error> check_import(const ImportRequest& request);

}  // namespace duly::core
