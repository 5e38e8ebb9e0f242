#include <iostream>
#include <memory>

#include "duly/admin.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/due_text.h"
#include "src/cli/help.h"
#include "src/cli/job_state.h"
#include "src/cli/job_text.h"
#include "src/cli/output.h"
#include "src/core/bytes.h"
#include "src/core/duration.h"

namespace duly::cli {
namespace {

struct GivenShow {
  QueueName queue{};
  JobId id{};
};

std::string backoff_text(const Backoff& backoff) {
  const Json number{backoff.factor, backoff.jitter};  // Shortest form that reads back.
  std::string text = backoff.kind == Backoff::Kind::fixed
                         ? "fixed " + core::format_duration(backoff.base)
                         : "exponential " + core::format_duration(backoff.base) + " .. " +
                               core::format_duration(backoff.cap) + ", factor " + number[0].dump();
  return text + ", jitter " + number[1].dump();
}

void print_field(std::string_view name, const std::string& value) {
  std::string label(name);
  label.resize(14, ' ');
  print_line(in_colour(Colour::dim, label) + value);
}

void print_times(const JobInfo& job) {
  print_field("put", due_text(job.put_at));
  if (job.due_at) print_field("due", due_text(*job.due_at));
  if (job.died_at) print_field("died", due_text(*job.died_at));
  if (job.done_at) print_field("done", due_text(*job.done_at));
  if (job.dead_reason) print_field("dead because", std::string(to_string(*job.dead_reason)));
}

void print_tries(const JobInfo& job) {
  if (job.priority > 0) print_field("priority", std::to_string(job.priority));
  print_field("max attempts", std::to_string(job.max_attempts));
  print_field("failures", std::to_string(job.failures));
  if (job.lost_leases > 0) print_field("lost leases", std::to_string(job.lost_leases));
  if (job.last_failed_at) print_field("last failed", due_text(*job.last_failed_at));
  if (!job.last_error.empty()) print_field("last error", core::printable(job.last_error));
}

void print_job(const JobInfo& job) {
  print_field("id", job.id.text());
  print_field("queue", job.queue.text());
  print_field("state", in_colour(colour_of(job.state), to_string(job.state)));
  if (!job.type.empty()) print_field("type", core::printable(job.type));
  if (!job.is_readable) print_field("record", "unreadable; these are its raw bytes");
  print_times(job);
  print_tries(job);
  if (job.lease > Milliseconds{0}) print_field("lease", core::format_duration(job.lease));
  print_field("timeout", core::format_duration(job.timeout));
  print_field("backoff", backoff_text(job.backoff));
  print_field("payload", preview(job.payload, 4096));
  if (!job.result.empty()) print_field("result", preview(job.result, 4096));
}

int show(const Context& context, const GivenShow& given) {
  Admin admin(context.connect());
  const auto job = admin.find(given.queue, given.id);
  if (!job) {
    const std::string_view outcome = to_string(ChangeOutcome::not_found);
    if (context.is_json) {
      print_json(outcome_json(given.id, outcome));
    } else {
      print_line(std::string(outcome) + " " + given.id.text());
    }
    return kNothingChanged;
  }
  if (context.is_json) {
    print_json(info_json(*job));
  } else {
    print_job(*job);
  }
  return 0;
}

}  // namespace

void add_show(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenShow>();
  CLI::App* const command = app.add_subcommand("show", "Everything about one job");
  command->group(kLook);
  add_queue(*command, given->queue);
  add_id(*command, given->id);
  add_examples(*command, "  duly show mail ID\n  duly show mail ID --json\n");
  context.on(command, [&context, given] { return show(context, *given); });
}

}  // namespace duly::cli
