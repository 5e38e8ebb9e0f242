#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "duly/job.h"

namespace duly::core {

/// From so many percent of their limit on, dead letters are worth a warning.
inline constexpr std::uint64_t kManyDeadLetters = 80;

/// What a log should say of the dead letters of one queue, looked at now and then: each thing once.
class DeadLetterWatch {
 public:
  /// A warning, or nothing if there is nothing new.
  std::optional<std::string> look(const QueueStats& stats);

 private:
  bool is_full_ = false;     // told
  bool is_stopped_ = false;  // told
  std::optional<std::uint64_t> dropped_{};
};

}  // namespace duly::core
