#include "duly/admin.h"
#include "duly/version.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/output.h"

namespace duly::cli {
namespace {

int show(const Context& context, Admin& admin) {
  const LibraryInfo info = admin.library();
  if (context.is_json) {
    print_json(Json{{"version", info.version.empty() ? Json(nullptr) : Json(info.version)},
                    {"ours", info.ours},
                    {"by_functions", info.by_functions}});
    return 0;
  }
  print_line("in Redis         " + (info.version.empty() ? "none" : info.version));
  print_line("in this program  " + info.ours);
  print_line(std::string("called by        ") + (info.by_functions ? "FCALL" : "EVALSHA"));
  return 0;
}

}  // namespace

void add_library(CLI::App& app, Context& context) {
  CLI::App* const library = app.add_subcommand("library", "The function library: show, load");
  library->group(kOperate)->require_subcommand(1)->fallthrough();
  add_examples(*library, "  duly library show\n  duly library load\n");

  CLI::App* const show_command = library->add_subcommand("show", "Which version is in Redis");
  show_command->group("Commands");
  add_examples(*show_command, "  duly library show --json\n");
  context.on(show_command, [&context] {
    Admin admin(context.connect());
    return show(context, admin);
  });

  CLI::App* const load = library->add_subcommand(
      "load", "Load ours if Redis has none or an older one; every command does it when needed");
  load->group("Commands");
  add_examples(*load, "  duly library load\n");
  context.on(load, [&context] {
    Admin admin(context.connect());
    admin.load_library();
    return show(context, admin);
  });
}

void add_version(CLI::App& app, Context& context) {
  CLI::App* const command = app.add_subcommand("version", "Version of this program");
  command->group(kOperate);
  add_examples(*command, "  duly version\n  duly version --json\n");
  context.on(command, [&context] {
    if (context.is_json) {
      print_json(Json{{"version", kVersion}});
    } else {
      print_line("duly " + std::string(kVersion));
    }
    return 0;
  });
}

}  // namespace duly::cli
