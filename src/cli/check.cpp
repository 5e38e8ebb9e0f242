#include <memory>
#include <vector>

#include "duly/admin.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/engine_name.h"
#include "src/cli/help.h"
#include "src/cli/output.h"
#include "src/core/bytes.h"

namespace duly::cli {
namespace {

constexpr int kDamaged = 1;

struct GivenCheck {
  std::vector<QueueName> queues{};
  bool repairs = false;
};

void print_report(const Context& context, const CheckReport& report, const std::string& verdict) {
  if (context.is_json) {
    Json findings = Json::array();
    for (const auto& [damage, what] : report.findings) {
      findings.push_back({{"damage", to_string(damage)}, {"what", what}});
    }
    return print_json(Json{{"queue", report.queue.text()},
                           {"verdict", verdict},
                           {"looked", report.looked},
                           {"found", report.found},
                           {"findings", findings}});
  }
  print_line(report.queue.text() + ": " + verdict + ", " + std::to_string(report.looked) +
             " entries, " + std::to_string(report.found) + " findings");
  for (const auto& [damage, what] : report.findings) {
    print_line("  " + std::string(to_string(damage)) + "  " + core::printable(what));
  }
  if (report.found > report.findings.size()) {
    print_line("  ... and " + std::to_string(report.found - report.findings.size()) + " more");
  }
}

/// Whether nothing is wrong, or not any more.
bool check_queue(const Context& context, Admin& admin, const QueueName& queue, bool repairs) {
  const CheckReport report = admin.check(queue, repairs ? CheckMode::repair : CheckMode::look);
  if (report.found == 0) {
    print_report(context, report, "consistent");
    return true;
  }
  const bool is_well = repairs && admin.check(queue).found == 0;
  print_report(context, report, is_well ? "repaired" : "damaged");
  return is_well;
}

bool can_be_checked(Admin& admin, const QueueName& queue) {
  const auto engine = engine_of_name(admin.stats(queue).engine);
  return !engine || capabilities_of(*engine).has_check;
}

int check(const Context& context, const GivenCheck& given) {
  Admin admin(context.connect());
  bool is_well = true;
  for (const QueueName& queue : given.queues.empty() ? admin.queues() : given.queues) {
    // Who asks for all queues asks for those that can be checked; a queue that is named is refused.
    if (given.queues.empty() && !can_be_checked(admin, queue)) {
      print_report(context, {.queue = queue}, "unsupported");
      continue;
    }
    is_well = check_queue(context, admin, queue, given.repairs) && is_well;
    flush_output();
  }
  return is_well ? 0 : kDamaged;
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenCheck>();
  CLI::App* const command =
      app.add_subcommand("check", "Look for jobs that are lost or damaged in Redis");
  command->group(kOperate);
  add_queues(*command, given->queues, "These queues [all]");
  command->add_flag("--repair", given->repairs, "Mend what is found");
  add_examples(*command, R"(  duly check
  duly check mail --repair
  duly check mail --json

Works on a queue in use. Exit status 1: damage is left.
)");
  context.on(command, [&context, given] { return check(context, *given); });
}

}  // namespace duly::cli
