#include <memory>

#include "duly/admin.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/job_text.h"
#include "src/cli/logging.h"
#include "src/cli/output.h"
#include "src/cli/progress.h"

namespace duly::cli {
namespace {

struct GivenExport {
  QueueName queue{};
  bool with_done = false;
};

int export_jobs(const Context& context, const GivenExport& given) {
  // In the order in which a job passes through: one that moves on is met again, not missed.
  std::vector<JobState> states{JobState::scheduled, JobState::ready, JobState::active,
                               JobState::dead};
  if (given.with_done) states.push_back(JobState::done);
  Admin admin(context.connect());
  Progress progress(context.is_quiet ? Progress::Show::nothing : Progress::Show::all, {});
  std::uint64_t jobs = 0;
  std::uint64_t bytes = 0;
  for (const JobState state : states) {
    ListOptions options{.most = Limits::piece};
    do {
      const JobPage page = admin.list(given.queue, state, options);
      for (const JobInfo& job : page.jobs) {
        const std::string line = to_text(export_json(job));
        print_line(line);
        bytes += line.size() + 1;
      }
      jobs += page.jobs.size();
      progress.update(jobs, bytes);
      options.after = page.next.value_or("");
    } while (!options.after.empty());
  }
  progress.clear();
  flush_output();
  if (!context.is_quiet && !context.is_json) {
    notice("exported " + std::to_string(jobs) + " jobs, " + size_text(bytes));
  }
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenExport>();
  CLI::App* const command =
      app.add_subcommand("export", "Write the jobs of a queue, one a line, for import ndjson");
  command->group(kProduce);
  add_queue(*command, given->queue);
  command->add_flag("--done", given->with_done, "Done jobs that are kept, too");
  add_examples(*command, R"(  duly export mail > mail.ndjson
  duly export mail | duly --redis redis://new import ndjson --queue mail

Scheduled, ready, active and dead jobs; the queue stays as it is. It is no snapshot: for an exact copy
`duly pause` the queue and let its workers end first. A payload that is no UTF-8 is payload_base64.
)");
  context.on(command, [&context, given] { return export_jobs(context, *given); });
}

}  // namespace duly::cli
