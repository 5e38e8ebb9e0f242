#pragma once

#include <memory>
#include <vector>

#include "src/client/shared.h"

namespace duly {

/// Puts any number of jobs in pieces, a few under way at a time, and answers them in order. Jobs
/// that are wrong are refused without being sent. Ids are made here, before anything is sent.
void put_many(Connection::Shared& shared, const QueueName& queue, std::vector<NewJob> jobs,
              Deadline deadline, Done<std::vector<PutResult>> done);

/// To the result of a put whose id was made for it: nobody else can have put that, so a job that
/// `exists` was created by a try whose answer was lost.
void settle_fresh(PutResult& result);

/// Puts one piece, all of it or nothing.
///
/// Errors  invalid_argument: more than a piece, or a job is wrong.
void put_all(Connection::Shared& shared, const QueueName& queue, std::vector<NewJob> jobs,
             Deadline deadline, Done<std::vector<PutResult>> done);

}  // namespace duly
