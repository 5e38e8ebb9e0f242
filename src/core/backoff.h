#pragma once

#include <cstdint>

#include "duly/job.h"

namespace duly::core {

/// The wait after the n-th failure (1 is the first), as the `fail` function in Redis computes it.
///
/// Shape   never less than base (or the cap, if that is less), never decreasing in `failures`; for
///         random = 0 never more than the cap.
/// Units   `random` in [0, 1) picks the jitter.
/// Source  docs/protocol.md, "Backoff".
Milliseconds backoff_delay(const Backoff& backoff, std::uint64_t failures, double random);

}  // namespace duly::core
