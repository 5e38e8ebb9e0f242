#pragma once

#include <array>
#include <string_view>

namespace duly {

/// A way of storing jobs and handing them over; chosen for a queue when it is created.
enum class EngineName {
  lease,     ///< The default: a sorted set and a hash, one lease a claim.
  pop,       ///< The jobs are members of a sorted set; a claim takes them out.
  list,      ///< A sorted set until due, then a list; each claim has a list of its own.
  stream,    ///< A sorted set until due, then a stream with a consumer group.
  keyspace,  ///< Keys that expire when a job is due; Redis tells it.
};
std::string_view to_string(EngineName engine);

inline constexpr std::array kEngineNames{EngineName::lease, EngineName::pop, EngineName::list,
                                         EngineName::stream, EngineName::keyspace};

/// What an engine can do; what it cannot, it refuses by name.
struct Capabilities {
  std::string_view name{"lease"};
  /// At least once: ack, fail, release, extend, recover. Without, a claimed job is the caller's,
  /// has an empty token, and is lost with its worker: at most once.
  bool has_leases = true;
  bool has_lease_lengths = true;  ///< Each job may bring its own; else a claim's longest holds.
  bool has_ids = true;            ///< One job an id, find and list.
  bool has_changes = true;        ///< cancel, reschedule, run now, edit.
  bool has_dead_letters = true;
  bool has_priorities = true;
  bool has_retention = true;      ///< Done jobs can be kept.
  bool has_check = true;          ///< Damage can be looked for and mended.
  bool isolates_suspects = true;  ///< Jobs that crash their workers run alone before the last try.
  bool has_keeper = true;         ///< An idle worker sleeps until the next due time.
  std::string_view when_due{"a worker sleeps until the due time"};
  std::string_view hand_over{"one lease a claim"};
};
const Capabilities& capabilities_of(EngineName engine);

}  // namespace duly
