#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "duly/job.h"
#include "src/engine/engine.h"
#include "src/redis/reply.h"

namespace duly {

/// Turns replies of the function library into values. Each answers an `internal` error for a reply
/// that is not of the documented form.
///
/// Source  docs/protocol.md.
namespace replies {

Result<std::vector<PutResult>> put(const redis::Reply& reply, const std::vector<NewJob>& jobs);
Result<ClaimReply> claim(redis::Reply reply, const QueueName& queue, Milliseconds lease);
Result<std::vector<LeaseOutcome>> lease_outcomes(const redis::Reply& reply, std::size_t rows,
                                                 LeaseOutcome usual);
Result<std::vector<ExtendResult>> extend(const redis::Reply& reply,
                                         const std::vector<ExtendRow>& rows);
Result<std::vector<ChangeOutcome>> change_outcomes(const redis::Reply& reply, std::size_t rows);
Result<DeadSweep> sweep(const redis::Reply& reply);
Result<std::vector<std::optional<JobInfo>>> find(const redis::Reply& reply, const QueueName& queue);
Result<JobPage> list(const redis::Reply& reply, const QueueName& queue);
Result<QueueLimits> limits(const redis::Reply& reply);
Result<CheckPiece> check(const redis::Reply& reply);
Result<ImportPiece> import_piece(const redis::Reply& reply);
Result<QueueStats> stats(const redis::Reply& reply, const QueueName& queue);

}  // namespace replies
}  // namespace duly
