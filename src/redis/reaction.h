#pragma once

#include <span>
#include <string_view>

#include "duly/error.h"
#include "src/redis/reply.h"

namespace duly::redis {

/// What can go wrong with Redis, or on the way to it.
enum class Trouble {
  // Error replies: nothing happened.
  loading,
  busy,
  try_again,
  cluster_down,
  master_down,
  read_only,
  max_clients,
  no_function,
  no_script,
  unknown_command,
  no_permission,
  not_logged_in,
  wrong_password,
  snapshot_fails,
  no_replicas,
  out_of_memory,
  protocol_error,
  invalid,
  other_reply,
  // On the way.
  no_such_name,
  refused,
  unreachable,
  closed,
  silent,
  slow,
  not_redis,
};

/// What duly does about it.
enum class Reaction {
  wait,       ///< Wait a little, then repeat, within the time limit.
  reconnect,  ///< Drop the connection and make another, then repeat, within the time limit.
  load,       ///< Load the function library, then repeat.
  end,        ///< End the call at once.
};

/// One row of the table of reactions.
struct TroubleRow {
  Trouble trouble;
  std::string_view name;  ///< As docs/operations.md calls it; an error reply by its first words.
  Reaction reaction;
  /// Of a call that ends by it: at once, or when its time is over. `outcome_unknown` holds for a
  /// request that had left, and what is safe to repeat is repeated first.
  ErrorCode code;
};

/// The one table: nothing else decides what to do about a trouble.
///
/// Source  docs/operations.md, "When Redis misbehaves"; a test compares both.
std::span<const TroubleRow> trouble_table();
const TroubleRow& row_of(Trouble trouble);

/// The trouble of an error reply, also of one that a script wraps into its own.
Trouble trouble_of(const Reply& error);
inline Reaction reaction_to(const Reply& error) { return row_of(trouble_of(error)).reaction; }

/// The word for a reaction in the documentation: "wait", "reconnect", "load", "end".
std::string_view to_string(Reaction reaction);

}  // namespace duly::redis
