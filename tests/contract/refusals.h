#pragma once

#include "tests/support/engine_harness.h"
#include "tests/support/sync_queue.h"

namespace duly::testing {

/// That an engine without an ability says so by name, or, where there is nothing to refuse, does
/// what the documentation says instead.
void expect_refusal(bool Capabilities::*ability, const Capabilities& can, SyncQueue& queue,
                    ManualClock& clock);

}  // namespace duly::testing
