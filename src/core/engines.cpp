#include "duly/engines.h"

namespace duly {
namespace {

constexpr Capabilities kLease{};
constexpr Capabilities kPop{.name = "pop",
                            .has_leases = false,
                            .has_lease_lengths = false,
                            .has_ids = false,
                            .has_changes = false,
                            .has_dead_letters = false,
                            .has_priorities = false,
                            .has_retention = false,
                            .has_check = false,
                            .isolates_suspects = false,
                            .hand_over = "taken out of a sorted set"};
constexpr Capabilities kList{.name = "list",
                             .has_lease_lengths = false,
                             .has_priorities = false,
                             .has_retention = false,
                             .has_check = false,
                             .isolates_suspects = false,
                             .hand_over = "moved to a list of the claim"};
constexpr Capabilities kStream{.name = "stream",
                               .has_lease_lengths = false,
                               .has_priorities = false,
                               .has_retention = false,
                               .has_check = false,
                               .isolates_suspects = false,
                               .hand_over = "read by a consumer of a group"};
constexpr Capabilities kKeyspace{.name = "keyspace",
                                 .has_leases = false,
                                 .has_lease_lengths = false,
                                 .has_dead_letters = false,
                                 .has_priorities = false,
                                 .has_retention = false,
                                 .has_check = false,
                                 .isolates_suspects = false,
                                 .has_keeper = false,
                                 .when_due = "Redis tells that a key has expired",
                                 .hand_over = "the first to ask gets it"};

}  // namespace

std::string_view to_string(EngineName engine) { return capabilities_of(engine).name; }

const Capabilities& capabilities_of(EngineName engine) {
  switch (engine) {
    case EngineName::lease:
      return kLease;
    case EngineName::pop:
      return kPop;
    case EngineName::list:
      return kList;
    case EngineName::stream:
      return kStream;
    case EngineName::keyspace:
      return kKeyspace;
  }
  return kLease;
}

}  // namespace duly
