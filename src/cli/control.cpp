#include <memory>

#include "duly/admin.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/output.h"

namespace duly::cli {
namespace {

int print_state(const Context& context, const QueueName& queue, const std::string& outcome) {
  if (context.is_json) {
    print_json(Json{{"queue", queue.text()}, {"outcome", outcome}});
  } else {
    print_line(outcome + " " + queue.text());
  }
  return 0;
}

int recover(const Context& context, const QueueName& queue) {
  Admin admin(context.connect());
  const std::uint64_t count = admin.recover(queue);
  if (context.is_json) {
    print_json(Json{{"queue", queue.text()}, {"recovered", count}});
  } else {
    print_line("recovered " + std::to_string(count));
  }
  return 0;
}

void add_command(CLI::App& app, Context& context, const std::string& name, const std::string& what,
                 std::function<int(const QueueName&)> work) {
  const auto queue = std::make_shared<QueueName>();
  CLI::App* const command = app.add_subcommand(name, what);
  command->group(kOperate);
  add_queue(*command, *queue);
  add_examples(*command, "  duly " + name + " mail\n  duly " + name + " mail --json\n");
  context.on(command, [queue, work = std::move(work)] { return work(*queue); });
}

}  // namespace

void add_control(CLI::App& app, Context& context) {
  add_command(app, context, "pause", "Stop claims of a queue, until resumed",
              [&context](const QueueName& queue) {
                Admin(context.connect()).pause(queue);
                return print_state(context, queue, "paused");
              });
  add_command(app, context, "resume", "Let claims of a queue go on",
              [&context](const QueueName& queue) {
                Admin(context.connect()).resume(queue);
                return print_state(context, queue, "resumed");
              });
  add_command(app, context, "recover", "Take back jobs of expired leases now; claims do it anyway",
              [&context](const QueueName& queue) { return recover(context, queue); });
}

}  // namespace duly::cli
