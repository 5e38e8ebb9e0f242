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

struct FunctionEngineOptions {
  /// Tests swap a part (the clock) or pretend another version.
  std::vector<LibraryPart> parts = library_parts();
  std::string version{kVersion};
  std::function<void(const std::string&)> warn{};  ///< Told of a clock that is far off, once.
  int database = 0;                                ///< Of expiry events.
  std::string process_name;  ///< Names this process in wake-up channels; unique.
};

/// All engines, by the function library: the functions know each queue's engine. Here is what
/// functions cannot do: wait, listen to expiry events, and read or set the server's configuration.
///
/// Source  docs/protocol.md.
std::shared_ptr<Engine> make_function_engine(redis::Io& io,
                                             std::shared_ptr<redis::Topology> topology,
                                             FunctionEngineOptions options);

}  // namespace duly
