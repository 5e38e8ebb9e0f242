#include <algorithm>
#include <memory>

#include "duly/admin.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/due_text.h"
#include "src/cli/help.h"
#include "src/cli/job_text.h"
#include "src/cli/logging.h"
#include "src/cli/output.h"
#include "src/cli/stop_signals.h"
#include "src/cli/table.h"
#include "src/core/bytes.h"
#include "src/core/dead_letters.h"

namespace duly::cli {
namespace {

// Ctrl-C is heard between two rounds, so a round must not last.
constexpr Milliseconds kRoundTimeout{2'000};

struct GivenStats {
  std::vector<QueueName> queues{};
  bool is_watch = false;
  std::optional<Milliseconds> every{};
};

std::vector<QueueStats> look(Admin& admin, const std::vector<QueueName>& chosen) {
  std::vector<QueueStats> all;
  for (const QueueName& queue : chosen.empty() ? admin.queues() : chosen) {
    all.push_back(admin.stats(queue));
  }
  return all;
}

std::string mean_lateness(const QueueStats::Totals& totals) {
  if (totals.claimed == 0) return "-";
  return about(Milliseconds(totals.lateness_ms / totals.claimed));
}

Cell count_cell(std::uint64_t count, Colour colour = Colour::plain) {
  return {std::to_string(count), count == 0 ? Colour::dim : colour};
}

std::string state_note(const QueueStats& stats) {
  if (stats.is_paused) return " (paused)";
  if (stats.is_stopped) return " (stopped: dead letters at their limit)";
  if (stats.dead_percent < core::kManyDeadLetters) return "";
  return " (dead letters at " + std::to_string(stats.dead_percent) + "% of their limit)";
}

std::string table_of(const std::vector<QueueStats>& all) {
  constexpr auto right = Table::Side::right;
  Table table({{"QUEUE"},
               {"SCHEDULED", right},
               {"READY", right},
               {"ACTIVE", right},
               {"DEAD", right},
               {"PUT", right},
               {"ACKED", right},
               {"FAILED", right},
               {"LATENESS", right},
               {"FIRST DUE"}});
  for (const QueueStats& stats : all) {
    const QueueStats::Totals& totals = stats.totals;
    table.add({{stats.queue.text() + state_note(stats)},
               count_cell(stats.scheduled, Colour::blue),
               count_cell(stats.ready, Colour::yellow),
               count_cell(stats.active, Colour::green),
               count_cell(stats.dead, Colour::red),
               count_cell(totals.put),
               count_cell(totals.acked),
               count_cell(totals.failed),
               {mean_lateness(totals)},
               {stats.oldest_due ? due_text(*stats.oldest_due) : "-"}});
  }
  return table.take_text();
}

void print_stats(const Context& context, const std::vector<QueueStats>& all) {
  if (context.is_json) {
    for (const QueueStats& stats : all) print_json(stats_json(stats));
  } else {
    print(table_of(all));
  }
  flush_output();
}

void watch_round(const Context& context, Admin& admin, const GivenStats& given) {
  const bool is_in_place = !context.is_json && is_terminal(Stream::out);
  try {
    const auto all = look(admin, given.queues);
    if (is_in_place) print("\x1b[H\x1b[J");  // To the top left, and clear what was below.
    print_stats(context, all);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable && error.code() != ErrorCode::outcome_unknown) throw;
    notice(core::printable(error.what()));
  }
}

int watch(Context& context, const GivenStats& given) {
  const Milliseconds every = given.every.value_or(Milliseconds{1'000});
  context.timeout = std::min(context.timeout.value_or(kRoundTimeout), kRoundTimeout);
  Admin admin(context.connect());
  do {
    watch_round(context, admin, given);
  } while (!wait_for_stop(every));
  return 0;
}

int show_stats(const Context& context, const GivenStats& given) {
  if (given.every) {
    throw Error(ErrorCode::invalid_argument, "--every: given alone, expected beside --watch");
  }
  Admin admin(context.connect());
  print_stats(context, look(admin, given.queues));
  return 0;
}

int show_queues(const Context& context) {
  Admin admin(context.connect());
  for (const QueueName& queue : admin.queues()) {
    if (context.is_json) {
      print_json(Json{{"queue", queue.text()}});
    } else {
      print_line(queue.text());
    }
  }
  return 0;
}

}  // namespace

void add_stats(CLI::App& app, Context& context) {
  CLI::App* const queues = app.add_subcommand("queues", "Names of all queues");
  queues->group(kLook);
  add_examples(*queues, "  duly queues\n  duly queues --json\n");
  context.on(queues, [&context] { return show_queues(context); });
  add_queue_engines(*queues, context);

  const auto given = std::make_shared<GivenStats>();
  CLI::App* const stats = app.add_subcommand("stats", "Counts, totals and lateness of queues");
  stats->group(kLook);
  add_queues(*stats, given->queues, "These queues [all]");
  stats->add_flag("--watch", given->is_watch, "Again and again, until Ctrl-C");
  add_duration(*stats, "--every", given->every, "Between two looks of --watch [1s]");
  add_examples(*stats, R"(  duly stats
  duly stats mail --json
  duly stats --watch --every 500ms

LATENESS is the mean of claim minus due, or minus put if it was due before; counts are split by the clock of Redis.
)");
  context.on(stats, [&context, given] {
    return given->is_watch ? watch(context, *given) : show_stats(context, *given);
  });
  stats->parse_complete_callback([&context, given] { context.takes_signals = given->is_watch; });
}

}  // namespace duly::cli
