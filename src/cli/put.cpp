#include <memory>
#include <vector>

#include "duly/client.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/due_text.h"
#include "src/cli/help.h"
#include "src/cli/job_options.h"
#include "src/cli/job_text.h"
#include "src/cli/output.h"
#include "src/cli/payload_source.h"
#include "src/cli/put_stream.h"
#include "src/core/check.h"

namespace duly::cli {
namespace {

struct GivenPut {
  QueueName queue{};
  PayloadSource payload{};
  JobOptions job{};
  std::optional<std::string> ndjson{};
};

/// The error of a put; where the job may be stored, how to find out without a second one.
Error with_way_out(const PutResult& result) {
  if (result.error->code() != ErrorCode::outcome_unknown) return *result.error;
  return {ErrorCode::outcome_unknown,
          std::string(result.error->what()) + "; safe to repeat with --id " + result.id.text()};
}

int put_one(const Context& context, const GivenPut& given) {
  NewJob job = given.job.job();
  job.payload = given.payload.read(context.connection.payload_limit);
  core::require(core::check_job(job, context.connection.payload_limit));

  Client client(context.connect());
  const PutResult result = client.put(given.queue, std::vector<NewJob>{std::move(job)}).at(0);
  if (result.error) throw with_way_out(result);
  if (context.is_json) {
    print_json(put_json(result));
  } else {
    std::string text = std::string(to_string(result.outcome)) + " " + result.id.text();
    if (result.due_at) text += ", due " + due_text(*result.due_at);
    print_line(text);
  }
  return result.outcome == PutOutcome::created ? 0 : kNothingChanged;
}

int put_many(const Context& context, const GivenPut& given) {
  if (given.payload.is_given() || given.job.has_id()) {
    throw Error(ErrorCode::invalid_argument,
                "--ndjson: given beside a payload or --id, expected them in its lines");
  }
  const PutStream stream{given.queue, *given.ndjson, given.job.job()};
  return put_stream(context, stream);
}

}  // namespace

void add_put(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenPut>();
  CLI::App* const command = app.add_subcommand("put", "Put a job, or a stream of jobs");
  command->group(kProduce);
  add_queue(*command, given->queue);
  given->payload.add_to(*command);
  given->job.add_to(*command);
  add_text(*command, "--ndjson", given->ndjson,
           "Put one job a line of this file (- is standard input)")
      ->type_name("FILE");
  add_examples(*command, R"(  duly put mail 'hello' --in 90s --type welcome
  duly put mail @letter.bin --at 2026-12-24T18:00:00Z --max-attempts 5
  produce | duly put mail --ndjson -

A line of --ndjson is an object with any of: payload or payload_base64, type, id, one of in, at,
delay_ms, due_at_ms, then priority, max_attempts, lease_ms, timeout_ms, and backoff with kind, base_ms,
cap_ms, factor, jitter. The other options of put hold for lines that do not say otherwise.
A line that is refused stops no other. Exit status 2 if any was.
)");
  context.on(command, [&context, given] {
    return given->ndjson ? put_many(context, *given) : put_one(context, *given);
  });
}

}  // namespace duly::cli
