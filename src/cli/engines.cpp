#include "duly/engines.h"

#include <memory>

#include "duly/admin.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/engine_name.h"
#include "src/cli/help.h"
#include "src/cli/output.h"
#include "src/cli/table.h"

namespace duly::cli {
namespace {

struct GivenEngine {
  QueueName queue{};
  std::string engine{"lease"};
};

EngineName parse_engine(const std::string& text) {
  if (const auto engine = engine_of_name(text)) return *engine;
  throw Error(ErrorCode::invalid_argument,
              "--engine: '" + text + "', expected lease, pop, list, stream or keyspace");
}

std::string delivers(const Capabilities& can) {
  return can.has_leases ? "at least once" : "at most once";
}

std::string yes(bool can) { return can ? "yes" : "-"; }

int show_engines(const Context& context) {
  Table table({{"ENGINE"},
               {"DELIVERS"},
               {"RETRIES"},
               {"CHANGES"},
               {"IDS"},
               {"PRIORITIES"},
               {"RETENTION"},
               {"CHECK"},
               {"WHEN DUE"},
               {"HAND-OVER"}});
  for (const EngineName engine : kEngineNames) {
    const Capabilities& can = capabilities_of(engine);
    if (context.is_json) {
      print_json(Json{{"engine", can.name},
                      {"delivers", delivers(can)},
                      {"has_leases", can.has_leases},
                      {"has_lease_lengths", can.has_lease_lengths},
                      {"has_ids", can.has_ids},
                      {"has_changes", can.has_changes},
                      {"has_dead_letters", can.has_dead_letters},
                      {"has_priorities", can.has_priorities},
                      {"has_retention", can.has_retention},
                      {"has_check", can.has_check},
                      {"when_due", can.when_due},
                      {"hand_over", can.hand_over}});
      continue;
    }
    table.add({{std::string(can.name)},
               {delivers(can)},
               {yes(can.has_leases)},
               {yes(can.has_changes)},
               {yes(can.has_ids)},
               {yes(can.has_priorities)},
               {yes(can.has_retention)},
               {yes(can.has_check)},
               {std::string(can.when_due)},
               {std::string(can.hand_over)}});
  }
  if (!context.is_json) print(table.take_text());
  return 0;
}

int create_queue(const Context& context, const GivenEngine& given) {
  const EngineName engine = parse_engine(given.engine);
  Admin admin(context.connect());
  const std::string outcome = admin.create(given.queue, engine) ? "created" : "exists";
  if (context.is_json) {
    print_json(
        Json{{"queue", given.queue.text()}, {"engine", to_string(engine)}, {"outcome", outcome}});
  } else {
    print_line(outcome + " " + given.queue.text() + " (engine " + given.engine + ")");
  }
  return 0;
}

}  // namespace

void add_engines(CLI::App& app, Context& context) {
  CLI::App* const command =
      app.add_subcommand("engines", "Ways of storing jobs: what each guarantees and can do");
  command->group(kLook);
  add_examples(*command, R"(  duly engines
  duly engines --json

RETRIES: ack, fail, release, extend, and dead letters. CHANGES: cancel, reschedule, run-now, edit. IDS: one job an id,
show and ls. What an engine cannot do, it refuses by name. A queue's engine is chosen by `duly queues create`.
)");
  context.on(command, [&context] { return show_engines(context); });
}

void add_queue_engines(CLI::App& queues, Context& context) {
  const auto given = std::make_shared<GivenEngine>();
  CLI::App* const create =
      queues.add_subcommand("create", "Make a queue of another engine than lease");
  add_queue(*create, given->queue);
  create->add_option("--engine", given->engine, "How it stores jobs [lease]")
      ->type_name("lease|pop|list|stream|keyspace");
  add_examples(*create, R"(  duly queues create ticks --engine pop
  duly queues create mail --engine list

Without it, the first put makes a queue of engine lease. A queue keeps its engine; put, claim and work find it by
themselves. `duly engines` tells what each can do.
)");
  context.on(create, [&context, given] { return create_queue(context, *given); });
}

}  // namespace duly::cli
