#pragma once

#include <vector>

#include "duly/client.h"
#include "src/redis/command.h"

namespace duly {

/// Arguments of functions that take rows of id and token. Jobs of one claim name their token once:
/// the fast way through duly_ack.
redis::Command held_rows(const std::vector<Held>& held);

/// Arguments of functions that take rows of id.
redis::Command id_rows(const std::vector<JobId>& ids);

}  // namespace duly
