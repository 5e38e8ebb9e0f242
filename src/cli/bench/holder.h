#pragma once

#include <CLI/App.hpp>

#include "src/cli/context.h"

namespace duly::cli {

/// Hidden: the other process of recovery_after_kill.
void add_bench_holder(CLI::App& app, Context& context);

}  // namespace duly::cli
