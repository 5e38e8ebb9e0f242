#include <memory>

#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/job_list.h"
#include "src/cli/job_state.h"

namespace duly::cli {
namespace {

struct GivenLs {
  QueueName queue{};
  std::optional<std::string> state{};
  std::optional<std::uint64_t> most{};
  bool is_all = false;
};

int list(const Context& context, const GivenLs& given) {
  JobList jobs{.queue = given.queue};
  if (given.state) {
    jobs.states = {parse_state(*given.state)};
  } else {
    jobs.states = {JobState::active, JobState::ready, JobState::scheduled, JobState::dead,
                   JobState::done};
  }
  if (given.most) jobs.most = given.most;
  if (given.is_all) jobs.most.reset();
  return print_jobs(context, jobs);
}

}  // namespace

void add_ls(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenLs>();
  CLI::App* const command = app.add_subcommand("ls", "List the jobs of a queue");
  command->group(kLook);
  add_queue(*command, given->queue);
  add_text(*command, "--state", given->state, "Only of this state [all]")
      ->type_name("scheduled|ready|active|dead|done");
  CLI::Option* const most =
      add_number(*command, "--most", given->most, {1, UINT32_MAX}, "So many of each state [100]");
  command->add_flag("--all", given->is_all, "However many there are")->excludes(most);
  add_examples(*command, R"(  duly ls mail
  duly ls mail --state scheduled --most 10
  duly ls mail --state dead --all --json
)");
  context.on(command, [&context, given] { return list(context, *given); });
}

}  // namespace duly::cli
