#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "duly/job.h"

namespace duly {

/// A home-made queue in the same Redis: a sorted set of members by due time.
struct ImportSource {
  /// What its scores are, since 1970. Fractions of a millisecond are rounded up.
  enum class Score { seconds, milliseconds };

  std::string set;                        ///< Key of the sorted set. Each member is a payload, or
  std::optional<std::string> contents{};  ///< the field of its payload in the hash of this key.
  Score score = Score::seconds;
};

enum class ImportMode {
  move,
  look,  ///< Changes nothing, and counts what a move would do.
};

struct ImportRequest {
  ImportSource source;
  NewJob job{};  ///< What all jobs have in common; its id, due time and payload do not count.
  ImportMode mode = ImportMode::move;
  std::string after{};        ///< A piece's `next`.
  std::uint64_t planned = 0;  ///< Of a look: what the pieces before counted as created.
};

/// What became of the members of one piece.
struct ImportPiece {
  std::optional<std::string> next{};  ///< Give it as `after` for the next piece; empty at the end.
  // Those that are jobs now, and gone from the home-made queue:
  std::uint64_t created = 0;
  std::uint64_t existed = 0;  ///< A waiting job said the same.
  std::uint64_t updated = 0;  ///< A waiting job of this id took over due time and payload.
  // Those that are left there:
  std::uint64_t not_a_time = 0;  ///< Score below 0 or beyond the year 9999.
  std::uint64_t no_content = 0;  ///< Not in the hash.
  std::uint64_t too_large = 0;   ///< Beyond the connection's payload limit.
  std::uint64_t full = 0;        ///< The queue's length is limited.
  std::uint64_t in_use = 0;      ///< A job of this id is active, dead or kept as done.

  std::uint64_t bytes = 0;               ///< Payloads of the first three.
  std::uint64_t remaining = 0;           ///< Members of the sorted set after this piece.
  std::optional<SystemTime> earliest{};  ///< Due times of the first three.
  std::optional<SystemTime> latest{};
};

}  // namespace duly
