#pragma once

#include <functional>
#include <vector>

#include "src/core/doctor.h"
#include "src/redis/command.h"
#include "src/redis/reply.h"

namespace duly {

/// Which of the rights of docs/protocol.md, "Rights", this user has, without using one of them:
/// by ACL DRYRUN, or, where that is not to be had, by queueing each command in a transaction that
/// is then discarded (Redis checks rights when it queues). `ask` sends one command and waits.
std::vector<core::Right> look_at_rights(const std::function<redis::Reply(redis::Command)>& ask);

}  // namespace duly
