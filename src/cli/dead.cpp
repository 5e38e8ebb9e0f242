#include <iostream>
#include <memory>
#include <string>

#include "duly/admin.h"
#include "src/cli/arguments.h"
#include "src/cli/change_outcomes.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/job_list.h"
#include "src/cli/output.h"
#include "src/cli/terminal.h"

namespace duly::cli {
namespace {

struct GivenDead {
  QueueName queue{};
  std::vector<JobId> ids{};
  std::optional<std::uint64_t> most{};
  bool is_all = false;
  bool is_sure = false;
};

void require_ids_or_all(const GivenDead& given) {
  if (given.ids.empty() == given.is_all) return;
  throw Error(ErrorCode::invalid_argument, given.is_all
                                               ? "--all: given beside ids, expected one of the two"
                                               : "id: none given, expected one or more, or --all");
}

int print_count(const Context& context, const GivenDead& given, const std::string& word,
                std::uint64_t count) {
  if (context.is_json) {
    print_json(Json{{"queue", given.queue.text()}, {word, count}});
  } else {
    print_line(word + " " + std::to_string(count));
  }
  return 0;
}

int list(const Context& context, const GivenDead& given) {
  JobList jobs{.queue = given.queue, .states = {JobState::dead}};
  if (given.most) jobs.most = given.most;
  if (given.is_all) jobs.most.reset();
  return print_jobs(context, jobs);
}

int replay(const Context& context, const GivenDead& given) {
  require_ids_or_all(given);
  Admin admin(context.connect());
  if (given.is_all) {
    return print_count(context, given, "replayed", admin.replay_all(given.queue));
  }
  return print_outcomes(context, given.ids, admin.replay(given.queue, given.ids));
}

bool is_confirmed(const GivenDead& given) {
  if (given.is_sure || !is_terminal(Stream::in) || !is_terminal(Stream::err)) return true;
  std::cerr << "Delete all dead jobs of " << given.queue.text() << "? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

int purge(const Context& context, const GivenDead& given) {
  require_ids_or_all(given);
  if (given.is_all && !is_confirmed(given)) return print_count(context, given, "purged", 0);
  Admin admin(context.connect());
  if (given.is_all) {
    return print_count(context, given, "purged", admin.purge_all(given.queue));
  }
  return print_outcomes(context, given.ids, admin.purge(given.queue, given.ids));
}

void add_list(CLI::App& dead, Context& context) {
  const auto given = std::make_shared<GivenDead>();
  CLI::App* const command = dead.add_subcommand("ls", "List dead jobs, latest first");
  command->group("Commands");
  add_queue(*command, given->queue);
  CLI::Option* const most =
      add_number(*command, "--most", given->most, {1, UINT32_MAX}, "So many [100]");
  command->add_flag("--all", given->is_all, "However many there are")->excludes(most);
  add_examples(*command, "  duly dead ls mail\n  duly dead ls mail --all --json\n");
  context.on(command, [&context, given] { return list(context, *given); });
}

void add_replay(CLI::App& dead, Context& context) {
  const auto given = std::make_shared<GivenDead>();
  CLI::App* const command =
      dead.add_subcommand("replay", "Make dead jobs ready again, with fresh attempts");
  command->group("Commands");
  add_queue(*command, given->queue);
  add_ids(*command, given->ids);
  command->add_flag("--all", given->is_all, "All that are dead now");
  add_examples(*command, "  duly dead replay mail ID\n  duly dead replay mail --all\n");
  context.on(command, [&context, given] { return replay(context, *given); });
}

void add_purge(CLI::App& dead, Context& context) {
  const auto given = std::make_shared<GivenDead>();
  CLI::App* const command = dead.add_subcommand("purge", "Delete dead jobs");
  command->group("Commands");
  add_queue(*command, given->queue);
  add_ids(*command, given->ids);
  command->add_flag("--all", given->is_all, "All that are dead now; asks on a terminal");
  command->add_flag("-y,--yes", given->is_sure, "Do not ask");
  add_examples(*command, "  duly dead purge mail ID\n  duly dead purge mail --all --yes\n");
  context.on(command, [&context, given] { return purge(context, *given); });
}

}  // namespace

void add_dead(CLI::App& app, Context& context) {
  CLI::App* const dead = app.add_subcommand("dead", "Dead letters: ls, replay, purge");
  dead->group(kOperate)->require_subcommand(1)->fallthrough();
  add_examples(*dead,
               "  duly dead ls mail\n  duly dead replay mail --all\n  duly dead purge mail ID\n");
  add_list(*dead, context);
  add_replay(*dead, context);
  add_purge(*dead, context);
}

}  // namespace duly::cli
