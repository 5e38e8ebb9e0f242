#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "duly/error.h"
#include "duly/version.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/logging.h"
#include "src/cli/output.h"
#include "src/cli/stop_signals.h"
#include "src/cli/terminal.h"
#include "src/core/bytes.h"

namespace duly::cli {
namespace {

void add_commands(CLI::App& app, Context& context) {
  add_put(app, context);
  add_import(app, context);
  add_export(app, context);
  add_change(app, context);
  add_claim(app, context);
  add_finish(app, context);
  add_work(app, context);
  add_ls(app, context);
  add_show(app, context);
  add_stats(app, context);
  add_engines(app, context);
  add_dead(app, context);
  add_control(app, context);
  add_limits(app, context);
  add_check(app, context);
  add_library(app, context);
  add_doctor(app, context);
  add_self(app, context);
  add_version(app, context);
  add_bench(app, context);
  add_demo(app, context);
}

void add_global_options(CLI::App& app, Context& context) {
  ConnectionOptions& connection = context.connection;
  app.add_option("--redis", connection.redis, "redis://, rediss:// or unix:// URL")
      ->envname("DULY_REDIS")
      ->type_name("URL");
  app.add_option("--data", connection.data, "Folder of the private Redis")->type_name("DIR");
  app.add_flag("--json", context.is_json, "JSON, one object a line");
  add_duration(app, "--timeout", context.timeout, "Total time of one call [10s]");
  app.add_option("--ca", connection.ca_file, "TLS: certificates to trust")->type_name("FILE");
  app.add_option("--cert", connection.certificate_file, "TLS: our certificate")->type_name("FILE");
  app.add_option("--key", connection.key_file, "TLS: our key")->type_name("FILE");
  add_text(app, "--log", context.log, "Form of log lines on standard error [text]")
      ->type_name("text|json");
  app.add_flag("-q,--quiet", context.is_quiet, "No notices, no progress, no log lines");
}

/// Whether to speak JSON, before (or though) the command line could be read.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") return false;
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

/// The form of log lines, likewise; text if it is a wrong one, which the parser will say.
LogForm wanted_log_form(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") break;
    if (word == "--log=json") return LogForm::json;
    if (word == "--log" && i + 1 < argc && std::string_view(argv[i + 1]) == "json") {
      return LogForm::json;
    }
  }
  return LogForm::text;
}

int report(const Error& error, bool is_json, const std::string& hint = {}) {
  if (is_json) {
    const Json body{{"code", to_string(error.code())}, {"message", error.what()}};
    std::cerr << to_text(Json{{"error", body}}) << "\n";
  } else if (log_form() == LogForm::json) {
    log_event(LogLevel::error, "error",
              {{"code", to_string(error.code())}, {"message", error.what()}}, error.what());
  } else {
    std::cerr << "duly: " << core::printable(error.what()) << "\n";
    if (!hint.empty()) std::cerr << hint << "\n";
  }
  return exit_status(error.code());
}

int run(int argc, char** argv) {
  set_up_logging(wanted_log_form(argc, argv));
  const bool is_json = wants_json(argc, argv);
  Context context;
  CLI::App app{"Delayed jobs on Redis: put a job with a delay, claim it when it is due.", "duly"};
  set_up_help(app);
  add_global_options(app, context);
  add_commands(app, context);
  try {
    app.parse(argc, argv);
    if (context.log) parse_log_form(*context.log);
    if (!context.takes_signals) unblock_stop_signals();
    const int status = context.run();
    flush_output();
    return status;
  } catch (const CLI::Success& wish) {  // --help
    return app.exit(wish);
  } catch (const CLI::ParseError& problem) {
    return report({ErrorCode::invalid_argument, usage_message(app, problem)}, is_json,
                  usage_hint(app));
  } catch (const OutputClosed&) {
    return 0;
  } catch (const Error& error) {
    return report(error, is_json);
  } catch (const std::exception& error) {
    return report({ErrorCode::internal, error.what()}, is_json);
  }
}

}  // namespace
}  // namespace duly::cli

int main(int argc, char** argv) {
  duly::cli::block_stop_signals();
  std::signal(SIGPIPE, SIG_IGN);  // A reader that goes away is an error of the write, not our end.
  duly::cli::open_missing_streams();
  return duly::cli::run(argc, argv);
}
