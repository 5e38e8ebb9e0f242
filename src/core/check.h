#pragma once

#include <optional>
#include <string_view>

#include "duly/error.h"
#include "duly/job.h"

namespace duly::core {

/// The rules of design section 5 and of Limits, one place for all of them. Each answers the
/// invalid_argument error that names object, finding and expectation, or nothing.
std::optional<Error> check_queue(const QueueName& queue);
std::optional<Error> check_id(const JobId& id);
std::optional<Error> check_token(const LeaseToken& token);
std::optional<Error> check_job(const NewJob& job, std::size_t payload_limit);
std::optional<Error> check_payload(std::string_view payload, std::size_t payload_limit);
std::optional<Error> check_lease(Milliseconds lease);
std::optional<Error> check_delay(Milliseconds delay);
std::optional<Error> check_due_at(SystemTime due_at);
std::optional<Error> check_backoff(const Backoff& backoff);
std::optional<Error> check_result(std::string_view result);
std::optional<Error> check_limits(const QueueLimits& limits);
std::optional<Error> check_failure(const Failure& failure);

/// Throws what a check found.
void require(const std::optional<Error>& error);

}  // namespace duly::core
