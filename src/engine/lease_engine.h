#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "duly/version.h"
#include "src/engine/engine.h"
#include "src/engine/library_text.h"
#include "src/redis/topology.h"

namespace duly {

struct LeaseEngineOptions {
  /// Tests swap a part (the clock) or pretend another version.
  std::vector<LibraryPart> parts = library_parts();
  std::string version{kVersion};
  std::function<void(const std::string&)> warn{};  ///< Told of a clock that is far off, once.
  std::string process_name;  ///< Names this process in wake-up channels; unique.
};

/// The default engine: a sorted set of due times, a hash of records, one lease a claim.
///
/// Source  docs/protocol.md.
std::shared_ptr<Engine> make_lease_engine(redis::Io& io, std::shared_ptr<redis::Topology> topology,
                                          LeaseEngineOptions options);

}  // namespace duly
