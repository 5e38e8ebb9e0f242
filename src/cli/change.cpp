#include <memory>
#include <utility>

#include "duly/admin.h"
#include "src/cli/arguments.h"
#include "src/cli/change_outcomes.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/payload_source.h"
#include "src/core/check.h"

namespace duly::cli {
namespace {

struct GivenChange {
  QueueName queue{};
  std::vector<JobId> ids{};
  JobId id{};
  std::optional<Milliseconds> delay{};
  std::optional<SystemTime> due_at{};
  PayloadSource payload{};
};

int reschedule(const Context& context, const GivenChange& given) {
  if (given.delay.has_value() == given.due_at.has_value()) {
    throw Error(ErrorCode::invalid_argument, "due time: none given, expected --in or --at");
  }
  if (given.delay) core::require(core::check_delay(*given.delay));
  if (given.due_at) core::require(core::check_due_at(*given.due_at));
  Admin admin(context.connect());
  const ChangeOutcome outcome = given.delay
                                    ? admin.reschedule(given.queue, given.id, *given.delay)
                                    : admin.reschedule(given.queue, given.id, *given.due_at);
  return print_outcomes(context, {given.id}, {outcome});
}

int edit(const Context& context, const GivenChange& given) {
  if (!given.payload.is_given()) {
    throw Error(ErrorCode::invalid_argument,
                "payload: none given, expected PAYLOAD, -, @FILE or --payload TEXT");
  }
  std::string payload = given.payload.read(context.connection.payload_limit);
  Admin admin(context.connect());
  return print_outcomes(context, {given.id},
                        {admin.edit(given.queue, given.id, std::move(payload))});
}

int run_now(const Context& context, const GivenChange& given) {
  Admin admin(context.connect());
  std::vector<ChangeOutcome> outcomes;
  for (const JobId& id : given.ids) outcomes.push_back(admin.run_now(given.queue, id));
  return print_outcomes(context, given.ids, outcomes);
}

void add_cancel(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenChange>();
  CLI::App* const command =
      app.add_subcommand("cancel", "Drop waiting jobs; ask active ones to stop");
  command->group(kProduce);
  add_queue(*command, given->queue);
  add_ids(*command, given->ids)->required();
  add_examples(*command, R"(  duly cancel mail ID
  duly cancel mail ID1 ID2 ID3 --json

'asked': the job is active. Whoever runs it learns it with the next heartbeat, within a third of its
lease, and however the attempt ends, the job does not run again.
)");
  context.on(command, [&context, given] {
    Admin admin(context.connect());
    return print_outcomes(context, given->ids, admin.cancel(given->queue, given->ids));
  });
}

void add_reschedule(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenChange>();
  CLI::App* const command = app.add_subcommand("reschedule", "Move a waiting job's due time");
  command->group(kProduce);
  add_queue(*command, given->queue);
  add_id(*command, given->id);
  CLI::Option* const in = add_duration(*command, "--in", given->delay, "Due so long from now");
  add_time(*command, "--at", given->due_at, "Due at this time")->excludes(in);
  add_examples(*command,
               "  duly reschedule mail ID --in 1h30m\n"
               "  duly reschedule mail ID --at 2026-12-24T18:00:00+01:00\n");
  context.on(command, [&context, given] { return reschedule(context, *given); });
}

void add_run_now(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenChange>();
  CLI::App* const command = app.add_subcommand("run-now", "Make scheduled jobs due at once");
  command->group(kProduce);
  add_queue(*command, given->queue);
  add_ids(*command, given->ids)->required();
  add_examples(*command, "  duly run-now mail ID\n  duly run-now mail ID1 ID2\n");
  context.on(command, [&context, given] { return run_now(context, *given); });
}

void add_edit(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenChange>();
  CLI::App* const command = app.add_subcommand("edit", "Replace a waiting job's payload");
  command->group(kProduce);
  add_queue(*command, given->queue);
  add_id(*command, given->id);
  given->payload.add_to(*command);
  add_examples(*command, "  duly edit mail ID 'hello again'\n  duly edit mail ID @letter.bin\n");
  context.on(command, [&context, given] { return edit(context, *given); });
}

}  // namespace

void add_change(CLI::App& app, Context& context) {
  add_cancel(app, context);
  add_reschedule(app, context);
  add_run_now(app, context);
  add_edit(app, context);
}

}  // namespace duly::cli
