#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "duly/error.h"
#include "src/cli/bench/figure.h"
#include "src/cli/bench/holder.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/logging.h"
#include "src/cli/table.h"
#include "src/embedded/child.h"

namespace duly::cli {
namespace {

struct BenchOptions {
  std::vector<std::string> names;
  bool is_quick = false;
  bool is_checked = false;
  std::filesystem::path server;
};

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const Row& row) {
  Json json{{"name", row.name},
            {"value", row.value},
            {"unit", row.unit},
            {"floor", or_null(row.floor)},
            {"ratio", or_null(row.ratio)},
            {"target", row.target.empty() ? Json(nullptr) : Json(row.target)},
            {"ok", or_null(row.is_met)}};
  json.update(row.more);
  return json;
}

std::string more_text(const Row& row) {
  std::string text;
  for (const auto& [name, value] : row.more.items()) {
    text += (text.empty() ? "" : "  ") + name + " " + number_text(value.get<double>());
  }
  return text;
}

Cell verdict(const Row& row) {
  if (!row.is_met) return {};
  return *row.is_met ? Cell{"ok", Colour::green} : Cell{"MISSED", Colour::red};
}

std::string table_of(const std::vector<Row>& rows) {
  using Side = Table::Side;
  Table table({{"figure"},
               {"value", Side::right},
               {"unit"},
               {"floor", Side::right},
               {"ratio", Side::right},
               {"target"},
               {""},
               {"also"}});
  const auto optional_text = [](const std::optional<double>& value) {
    return value ? number_text(*value) : std::string{};
  };
  for (const Row& row : rows) {
    table.add({{row.name, Colour::bold},
               {number_text(row.value)},
               {row.unit},
               {optional_text(row.floor)},
               {optional_text(row.ratio)},
               {row.target},
               verdict(row),
               {more_text(row), Colour::dim}});
  }
  return table.take_text();
}

void require_known(const std::vector<std::string>& names) {
  std::string known;
  std::vector<std::string_view> all;
  for (const Group& group : groups()) {
    for (const std::string_view name : group.names) {
      known += " " + std::string(name);
      all.push_back(name);
    }
  }
  for (const std::string& name : names) {
    if (std::find(all.begin(), all.end(), name) == all.end()) {
      throw Error(ErrorCode::invalid_argument,
                  "figure: \"" + name + "\", expected one of:" + known);
    }
  }
}

std::string summary_of(std::size_t figures, std::ptrdiff_t missed,
                       std::chrono::steady_clock::duration time) {
  return "figures: " + std::to_string(figures) + ", targets missed: " + std::to_string(missed) +
         ", time: " + std::to_string(std::chrono::round<std::chrono::seconds>(time).count()) + " s";
}

int run(const Context& context, const BenchOptions& options) {
  require_known(options.names);
  const auto begun_at = std::chrono::steady_clock::now();
  std::vector<Row> rows;
  Bench bench{.is_quick = options.is_quick,
              .server = options.server.empty() ? embedded::find_server() : options.server};
  bench.wants = [&](std::string_view name) {
    const auto& names = options.names;
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  bench.note = [&](const std::string& text) {
    if (!context.is_quiet) notice("bench: " + text);
  };
  bench.report = [&](Row row) {
    if (context.is_json) {
      print_json(json_of(row));
      flush_output();
    }
    rows.push_back(std::move(row));
  };
  for (const Group& group : groups()) {
    if (std::any_of(group.names.begin(), group.names.end(), bench.wants)) group.measure(bench);
  }
  if (!context.is_json) print(table_of(rows));
  const auto missed = std::count_if(rows.begin(), rows.end(),
                                    [](const Row& row) { return !row.is_met.value_or(true); });
  flush_output();
  bench.note(summary_of(rows.size(), missed, std::chrono::steady_clock::now() - begun_at));
  return options.is_checked && missed > 0 ? 1 : 0;
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  add_bench_holder(app, context);
  CLI::App* const command = app.add_subcommand(
      "bench", "Measures duly, and the floor beside it, on private Redis servers of its own");
  command->group(kOperate);
  const auto options = std::make_shared<BenchOptions>();
  command->add_option("names", options->names,
                      "Figures; all by default. bench/README.md explains them");
  command->add_flag("--quick", options->is_quick, "Shorter and smaller: half a minute");
  command->add_flag("--check", options->is_checked, "Exit status 1 if a target is missed");
  command
      ->add_option("--redis-server", options->server,
                   "The server to start; else as for the private Redis")
      ->type_name("BIN");
  add_examples(*command,
               "  duly bench --quick\n"
               "  duly bench life_batch100 worker_noop\n"
               "  duly bench --json > figures.ndjson\n");
  context.on(command, [&context, options] { return run(context, *options); });
}

}  // namespace duly::cli
