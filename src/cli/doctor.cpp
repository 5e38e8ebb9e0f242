#include <algorithm>

#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/output.h"
#include "src/cli/table.h"
#include "src/client/examine.h"
#include "src/core/bytes.h"
#include "src/core/doctor.h"

namespace duly::cli {
namespace {

using core::Check;
using core::Verdict;

constexpr int kThreatened = 1;

Json json_of(const Check& check) {
  return {{"check", check.name},
          {"verdict", core::to_string(check.verdict)},
          {"found", check.found},
          {"reason", check.reason},
          {"do", check.advice}};
}

Colour colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return Colour::green;
    case Verdict::warning:
      return Colour::yellow;
    case Verdict::threat:
      return Colour::red;
    case Verdict::unknown:
      break;
  }
  return Colour::blue;
}

/// The same thing is said once, for all that it would mend.
std::string advice_of(const std::vector<Check>& checks) {
  std::vector<std::pair<std::string, std::string>> lines;  // advice, names
  for (const Check& check : checks) {
    if (check.advice.empty()) continue;
    const auto known = std::find_if(lines.begin(), lines.end(),
                                    [&](const auto& line) { return line.first == check.advice; });
    if (known == lines.end()) {
      lines.emplace_back(check.advice, check.name);
    } else {
      known->second += ", " + check.name;
    }
  }
  std::string text;
  for (const auto& [advice, names] : lines) text += "  " + names + ": " + advice + "\n";
  return text;
}

void print_table(const std::vector<Check>& checks) {
  Table table({{"CHECK"}, {"VERDICT"}, {"FOUND"}, {"REASON"}});
  for (const Check& check : checks) {
    table.add({{check.name, Colour::bold},
               {std::string(core::to_string(check.verdict)), colour_of(check.verdict)},
               {core::printable(check.found)},
               {core::printable(check.reason)}});
  }
  print(table.take_text());
  const std::string advice = advice_of(checks);
  if (!advice.empty()) print("\nWhat to do:\n" + advice);
}

int examine_and_print(const Context& context) {
  const std::vector<Check> checks = core::diagnose(examine(context.connect()));
  if (context.is_json) {
    for (const Check& check : checks) print_json(json_of(check));
  } else {
    print_table(checks);
  }
  const bool is_threatened = std::any_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.verdict == Verdict::threat;
  });
  return is_threatened ? kThreatened : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* const command =
      app.add_subcommand("doctor", "Is this Redis fit for jobs? Looks, and changes nothing");
  command->group(kOperate);
  add_examples(*command, R"(  duly doctor
  duly doctor --json

Verdicts: ok; warning; threat, which endangers what duly promises; unknown, where this user may not
look. Exit status 1 if there is a threat. Every verdict but ok says what to do.
)");
  context.on(command, [&context] { return examine_and_print(context); });
}

}  // namespace duly::cli
