#pragma once

#include <vector>

#include "duly/client.h"
#include "src/engine/engine.h"
#include "src/redis/command.h"

namespace duly {

/// Arguments of functions that take rows of id and token. Jobs of one claim name their token once:
/// the fast way through duly_ack.
redis::Command held_rows(const std::vector<Held>& held);

/// Arguments of duly_ack: as held_rows() where no job brought a result.
redis::Command ack_rows(const std::vector<AckRow>& rows);

/// Arguments of duly_limits that set all of them.
redis::Command limit_pairs(const QueueLimits& limits);

/// Arguments of functions that take rows of id.
redis::Command id_rows(const std::vector<JobId>& ids);

/// Arguments of duly_import.
redis::Command import_arguments(const ImportRequest& request, std::size_t payload_limit);

/// Arguments of duly_check.
redis::Command check_arguments(const CheckRequest& request);

}  // namespace duly
