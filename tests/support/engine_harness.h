#pragma once

#include <memory>
#include <string>

#include "src/engine/engine.h"
#include "tests/support/manual_clock.h"

namespace duly::testing {

/// What the contract suite runs over.
enum class EngineKind {
  model,      ///< In memory.
  functions,  ///< The lease engine on a redis-server of its own, by FCALL.
  scripts,    ///< The same by EVALSHA: functions are denied to its user.
  pop,        ///< The other engines, by FCALL.
  list,
  stream,
  keyspace,
};

/// An engine on a manual clock.
class EngineHarness {
 public:
  virtual ~EngineHarness() = default;
  [[nodiscard]] virtual std::shared_ptr<Engine> engine() = 0;
  [[nodiscard]] virtual ManualClock& clock() = 0;
  [[nodiscard]] virtual const Capabilities& capabilities() const {
    return capabilities_of(EngineName::lease);
  }
};

std::unique_ptr<EngineHarness> make_harness(EngineKind kind);

}  // namespace duly::testing
