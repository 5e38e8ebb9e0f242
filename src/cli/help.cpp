#include "src/cli/help.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "src/core/bytes.h"

namespace duly::cli {
namespace {

constexpr auto kTopFooter =
    R"(Durations: 250ms 90s 30m 1h30m 7d (units d h m s ms, from large to small).
Times:     RFC 3339 (2026-12-24T18:00:00Z, 2026-12-24T18:00:00+01:00) or epoch seconds.
Redis:     --redis URL or DULY_REDIS; without them a private Redis that duly starts by itself.
           The options above may stand before or after the command.

Exit status:
  0  as asked                         4  outcome unknown: the link broke after sending
  1  internal error                   5  Redis is out of memory
  2  invalid argument                 6  the library in Redis is incompatible
  3  Redis unavailable                7  nothing changed: exists, not_found, lease_lost, wrong_state

Examples:
  duly put mail 'hello' --in 90s      Due in a minute and a half
  duly work mail --exec 'cat'         Runs a command for each due job
  duly stats                          Counts of all queues
)";

std::string full_name(const CLI::App& app) {
  if (app.get_parent() == nullptr) return app.get_name();
  return full_name(*app.get_parent()) + " " + app.get_name();
}

/// Help without the clutter: no "x 1000000000" behind a list, no "REQUIRED", no empty groups.
class HelpForm : public CLI::Formatter {
 public:
  HelpForm() { column_width(34); }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0 && !option->get_type_name().empty()) {
      text = " " + option->get_type_name();
    }
    if (!option->get_envname().empty()) text += " (env " + option->get_envname() + ")";
    return text;
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string text = "Usage: " + (name.empty() ? full_name(*app) : name);
    for (const CLI::Option* place :
         app->get_options([](const CLI::Option* option) { return option->get_positional(); })) {
      const bool is_list = place->get_items_expected_max() > 1;
      const std::string word = place->get_name(true) + (is_list ? "..." : "");
      text += place->get_required() ? " " + word : " [" + word + "]";
    }
    if (!app->get_subcommands({}).empty()) text += " COMMAND";
    return text + " [options]\n";
  }
};

/// Insertions, deletions, replacements and swaps of neighbours that make one word the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> cost(from.size() + 1,
                                             std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= to.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = cost[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[from.size()][to.size()];
}

/// The command that was most likely meant, or nothing if none is near.
std::string nearest_command(const CLI::App& app, std::string_view word) {
  std::string best;
  std::size_t least = word.size() / 3 + 2;  // Up to a third of it, and one, may be wrong.
  for (const CLI::App* command : app.get_subcommands({})) {
    const std::size_t found = distance(word, command->get_name());
    if (found < least) {
      least = found;
      best = command->get_name();
    }
  }
  return best;
}

const CLI::App& chosen(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : chosen(*commands.front());
}

}  // namespace

void set_up_help(CLI::App& app) {
  app.formatter(std::make_shared<HelpForm>());
  app.set_help_flag("-h,--help", "This help");
  app.footer(kTopFooter);
  app.require_subcommand(1);
  app.fallthrough();
}

void add_examples(CLI::App& command, const std::string& lines) {
  command.footer("Examples:\n" + lines + "\nMore options, durations, times: duly --help");
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& problem) {
  const CLI::App& command = chosen(app);
  const bool is_family = !command.get_subcommands({}).empty();
  if (!is_family) return core::printable(problem.what());
  const auto words = app.remaining(true);
  const auto word = std::find_if(words.begin(), words.end(),
                                 [](const std::string& w) { return !w.starts_with('-'); });
  if (word == words.end()) {
    return words.empty() ? "no command given" : core::printable(problem.what());
  }
  const std::string nearest = nearest_command(command, *word);
  std::string text = "unknown command \"" + core::printable(core::cut_utf8(*word, 60)) + "\"";
  if (!nearest.empty()) text += "; did you mean \"" + nearest + "\"?";
  return text;
}

std::string usage_hint(const CLI::App& app) {
  return "See `" + full_name(chosen(app)) + " --help`.";
}

}  // namespace duly::cli
