#pragma once

#include <memory>
#include <optional>
#include <string>

#include "duly/connection.h"
#include "src/core/doctor.h"

namespace duly {

/// Reads what `duly doctor` judges, and changes nothing. What the server does not grant is told as
/// such.
///
/// Errors  unavailable, outcome_unknown: the server could not be asked at all.
core::ServerFacts examine(const Connection& connection);

/// Warns in the connection's log, once for each Connection, if the server may evict keys. Asks by
/// itself, and tells nothing where it gets no answer. Any thread.
void warn_of_eviction(const std::shared_ptr<Connection::Shared>& shared);

}  // namespace duly
