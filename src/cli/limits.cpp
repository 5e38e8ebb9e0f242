#include <memory>

#include "duly/admin.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/output.h"
#include "src/core/check.h"
#include "src/core/duration.h"

namespace duly::cli {
namespace {

using AtLimit = QueueLimits::AtLimit;

struct GivenLimits {
  QueueName queue{};
  std::optional<std::uint64_t> length{};
  std::optional<std::uint64_t> dead_count{};
  std::optional<std::uint64_t> dead_bytes{};
  std::optional<Milliseconds> dead_age{};
  std::optional<std::string> at_limit{};
  std::optional<Milliseconds> done_age{};
  std::optional<std::uint64_t> done_count{};
  std::optional<std::uint64_t> done_bytes{};
};

AtLimit parse_at_limit(const std::string& word) {
  if (word == "drop") return AtLimit::drop;
  if (word == "refuse") return AtLimit::refuse;
  throw Error(ErrorCode::invalid_argument, "dead at limit: expected drop or refuse");
}

std::string_view to_word(AtLimit at_limit) { return at_limit == AtLimit::drop ? "drop" : "refuse"; }

// What was given replaces what stands.
QueueLimits changed(QueueLimits limits, const GivenLimits& given) {
  limits.length = given.length.value_or(limits.length);
  limits.dead_count = given.dead_count.value_or(limits.dead_count);
  limits.dead_bytes = given.dead_bytes.value_or(limits.dead_bytes);
  limits.dead_age = given.dead_age.value_or(limits.dead_age);
  if (given.at_limit) limits.dead_at_limit = parse_at_limit(*given.at_limit);
  limits.done_age = given.done_age.value_or(limits.done_age);
  limits.done_count = given.done_count.value_or(limits.done_count);
  limits.done_bytes = given.done_bytes.value_or(limits.done_bytes);
  return limits;
}

void print_limits(const Context& context, const QueueName& queue, const QueueLimits& limits) {
  if (context.is_json) {
    return print_json(Json{{"queue", queue.text()},
                           {"length", limits.length},
                           {"dead_count", limits.dead_count},
                           {"dead_bytes", limits.dead_bytes},
                           {"dead_age_ms", limits.dead_age.count()},
                           {"dead_at_limit", to_word(limits.dead_at_limit)},
                           {"done_age_ms", limits.done_age.count()},
                           {"done_count", limits.done_count},
                           {"done_bytes", limits.done_bytes}});
  }
  const auto age = [](Milliseconds time, const char* none) {
    return time == Milliseconds{0} ? none : core::format_duration(time);
  };
  print_line("waiting jobs    " +
             (limits.length == 0 ? "no limit" : "at most " + std::to_string(limits.length)));
  print_line("dead letters    at most " + std::to_string(limits.dead_count) + ", " +
             std::to_string(limits.dead_bytes) + " bytes, " + age(limits.dead_age, "of any age") +
             "; at the limit: " + std::string(to_word(limits.dead_at_limit)));
  if (limits.done_age == Milliseconds{0}) return print_line("done jobs       not kept");
  print_line("done jobs       kept for " + core::format_duration(limits.done_age) + ", at most " +
             std::to_string(limits.done_count) + ", " + std::to_string(limits.done_bytes) +
             " bytes");
}

int run_limits(const Context& context, const GivenLimits& given) {
  if (given.at_limit) parse_at_limit(*given.at_limit);  // Before anything is sent.
  Admin admin(context.connect());
  const QueueLimits before = admin.limits(given.queue);
  const QueueLimits after = changed(before, given);
  if (after != before) admin.set_limits(given.queue, after);
  print_limits(context, given.queue, after);
  return 0;
}

}  // namespace

void add_limits(CLI::App& app, Context& context) {
  constexpr Range kCount{1, 9'007'199'254'740'991};
  const auto given = std::make_shared<GivenLimits>();
  CLI::App* const command =
      app.add_subcommand("limits", "Show or set what a queue may hold, and for how long");
  command->group(kOperate);
  add_queue(*command, given->queue);
  add_number(*command, "--length", given->length, {0, kCount.most},
             "Waiting jobs; beyond it puts are refused; 0: no limit");
  add_number(*command, "--dead-count", given->dead_count, kCount, "Dead letters");
  add_number(*command, "--dead-bytes", given->dead_bytes, kCount, "Their bytes");
  add_duration(*command, "--dead-age", given->dead_age, "How long they stay; 0s: no limit");
  add_text(*command, "--dead-at-limit", given->at_limit,
           "drop: the oldest go. refuse: claims stop until some are replayed or purged")
      ->type_name("drop|refuse");
  add_duration(*command, "--done-age", given->done_age, "How long done jobs are kept; 0s: not");
  add_number(*command, "--done-count", given->done_count, kCount, "Done jobs");
  add_number(*command, "--done-bytes", given->done_bytes, kCount, "Their bytes");
  add_examples(*command, R"(  duly limits mail
  duly limits mail --length 1000000
  duly limits mail --dead-count 10000 --dead-at-limit refuse
  duly limits mail --done-age 1d --json

Without options it shows. What is not given stays as it was. The oldest dead letters and done jobs go first, and `duly stats
--json` counts them: dead_dropped, done_expired.
)");
  context.on(command, [&context, given] { return run_limits(context, *given); });
}

}  // namespace duly::cli
