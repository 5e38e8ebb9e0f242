#pragma once

#include <string>
#include <vector>

#include "duly/client.h"
#include "src/engine/engine.h"
#include "src/redis/command.h"

namespace duly {

/// Arguments of duly_put.
redis::Command put_rows(const std::vector<NewJob>& jobs, PutMode mode);

/// Arguments of duly_claim; `ids` of jobs whose expiry was told.
redis::Command claim_arguments(const ClaimRequest& request, const std::vector<std::string>& ids);

/// Arguments of duly_fail, duly_extend, duly_reschedule.
redis::Command fail_rows(const std::vector<FailRow>& rows);
redis::Command extend_rows(const std::vector<ExtendRow>& rows);
redis::Command reschedule_rows(const std::vector<RescheduleRow>& rows);

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
