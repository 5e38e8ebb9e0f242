#include <memory>

#include "duly/client.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/job_text.h"
#include "src/cli/output.h"
#include "src/core/check.h"

namespace duly::cli {
namespace {

struct GivenFinish {
  QueueName queue{};
  JobId id{};
  LeaseToken token{};
  std::optional<std::string> result{};
  std::optional<std::string> error{};
  std::optional<Milliseconds> retry_in{};
  bool gives_up = false;
  std::optional<Milliseconds> lease{};

  [[nodiscard]] Held held() const { return {id, token}; }
};

std::shared_ptr<GivenFinish> add_held(CLI::App& command) {
  auto given = std::make_shared<GivenFinish>();
  command.group(kWork);
  add_queue(command, given->queue);
  add_id(command, given->id);
  add_token(command, given->token);
  return given;
}

int print_outcome(const Context& context, const GivenFinish& given, LeaseOutcome outcome) {
  if (context.is_json) {
    print_json(outcome_json(given.id, to_string(outcome)));
  } else {
    print_line(std::string(to_string(outcome)) + " " + given.id.text());
  }
  return outcome == LeaseOutcome::lease_lost ? kNothingChanged : 0;
}

int fail(const Context& context, const GivenFinish& given) {
  Failure failure;
  failure.error = given.error.value_or("");
  failure.retry_in = given.retry_in;
  if (given.gives_up) failure.then = Failure::Then::give_up;
  core::require(core::check_failure(failure));
  Client client(context.connect());
  return print_outcome(context, given, client.fail(given.queue, given.held(), failure));
}

int extend(const Context& context, const GivenFinish& given) {
  core::require(core::check_lease(*given.lease));
  Client client(context.connect());
  return print_outcome(context, given, client.extend(given.queue, given.held(), *given.lease));
}

void add_ack(CLI::App& app, Context& context) {
  CLI::App* const command = app.add_subcommand("ack", "Report success: the job is done");
  const auto given = add_held(*command);
  add_text(*command, "--result", given->result,
           "What it brought; kept with the job if its queue keeps done jobs");
  add_examples(*command, "  duly ack mail ID TOKEN\n  duly ack mail ID TOKEN --result 'sent'\n");
  context.on(command, [&context, given] {
    const std::string result = given->result.value_or("");
    core::require(core::check_result(result));
    Client client(context.connect());
    return print_outcome(context, *given, client.ack(given->queue, given->held(), result));
  });
}

void add_fail(CLI::App& app, Context& context) {
  CLI::App* const command =
      app.add_subcommand("fail", "Report an error: the job runs again, or is dead");
  const auto given = add_held(*command);
  add_text(*command, "--error", given->error, "Kept with the job; at most 4096 bytes of it");
  CLI::Option* const retry =
      add_duration(*command, "--retry-in", given->retry_in, "Instead of the job's backoff");
  command->add_flag("--give-up", given->gives_up, "No attempt will do: the job is dead")
      ->excludes(retry);
  add_examples(*command, R"(  duly fail mail ID TOKEN --error 'mailbox full'
  duly fail mail ID TOKEN --retry-in 5m
  duly fail mail ID TOKEN --give-up --error 'no such user'
)");
  context.on(command, [&context, given] { return fail(context, *given); });
}

void add_release(CLI::App& app, Context& context) {
  CLI::App* const command =
      app.add_subcommand("release", "Give a job back unharmed: no attempt is charged");
  const auto given = add_held(*command);
  add_examples(*command, "  duly release mail ID TOKEN\n");
  context.on(command, [&context, given] {
    Client client(context.connect());
    return print_outcome(context, *given, client.release(given->queue, given->held()));
  });
}

void add_extend(CLI::App& app, Context& context) {
  CLI::App* const command = app.add_subcommand("extend", "Keep a lease longer");
  const auto given = add_held(*command);
  add_duration(*command, "--lease", given->lease, "From now on; 100ms .. 24h")->required();
  add_examples(*command, "  duly extend mail ID TOKEN --lease 5m\n");
  context.on(command, [&context, given] { return extend(context, *given); });
}

}  // namespace

void add_finish(CLI::App& app, Context& context) {
  add_ack(app, context);
  add_fail(app, context);
  add_release(app, context);
  add_extend(app, context);
}

}  // namespace duly::cli
