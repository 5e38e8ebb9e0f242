#pragma once

#include <memory>

#include "src/engine/engine.h"
#include "tests/support/manual_clock.h"

namespace duly::testing {

/// The model: an Engine in memory, on a manual clock, under one lock. Calls back at once. What it
/// does is what every engine with leases must do; only jitter is left out, and cursors have another
/// text.
std::shared_ptr<Engine> make_model_engine(std::shared_ptr<const ManualClock> clock);

}  // namespace duly::testing
