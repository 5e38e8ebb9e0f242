#include <memory>

#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/import_run.h"
#include "src/cli/job_options.h"
#include "src/cli/put_stream.h"
#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/import.h"

namespace duly::cli {
namespace {

struct GivenImport {
  QueueName queue{};
  std::optional<std::string> set{};
  std::optional<std::string> contents{};
  std::optional<std::string> score{};
  std::optional<std::string> file{};
  JobOptions job{};
  bool is_dry_run = false;
  bool follows = false;
  bool replays_dead = false;
};

ImportSource::Score parse_score(const std::string& word) {
  if (word == "s") return ImportSource::Score::seconds;
  if (word == "ms") return ImportSource::Score::milliseconds;
  throw Error(ErrorCode::invalid_argument,
              "score: \"" + core::printable(core::cut_utf8(word, 60)) + "\", expected s or ms");
}

int import_set(const Context& context, const GivenImport& given) {
  ImportRun run{.queue = given.queue, .follows = given.follows};
  run.request.source = {.set = given.set.value_or(""),
                        .contents = given.contents,
                        .score = parse_score(given.score.value_or("s"))};
  run.request.job = given.job.job();
  if (given.is_dry_run) run.request.mode = ImportMode::look;
  core::require(core::check_import(run.request));
  return run_import(context, std::move(run));
}

int import_lines(const Context& context, const GivenImport& given) {
  const PutStream stream{
      .queue = given.queue,
      .path = given.file.value_or("-"),
      .defaults = given.job.job(),
      .ended = given.replays_dead ? PutStream::Ended::put_anew : PutStream::Ended::leave_out};
  return put_stream(context, stream);
}

constexpr auto kHowItGoes = R"(
One atomic step moves up to 250 members: a member is there, or a job here, never both or neither.
So producers may still write, and a killed import is simply started again. A member that is added
again while its job waits moves the job to the new due time; while it runs, it stays until later.
What cannot be a job stays where it is, and is counted by reason; exit status 7 if there was any.
--follow takes what comes until Ctrl-C or SIGTERM, then prints the counts; exit status 0.
)";

CLI::App* add_set_command(CLI::App& import, Context& context, GivenImport& given,
                          const std::string& name, const std::string& what) {
  CLI::App* const command = import.add_subcommand(name, what);
  command->group("Commands");
  add_queue_option(*command, given.queue);
  add_text(*command, "--score", given.score,
           "What scores are, since 1970; fractions of a ms are rounded up [s]")
      ->type_name("s|ms");
  CLI::Option* const dry = command->add_flag("--dry-run", given.is_dry_run,
                                             "Change nothing, and count what would be done");
  command->add_flag("--follow", given.follows, "Go on with what is added, until stopped")
      ->excludes(dry);
  given.job.add_common_to(*command);
  command->parse_complete_callback([&context, &given] { context.takes_signals = given.follows; });
  return command;
}

void add_zset(CLI::App& import, Context& context) {
  const auto given = std::make_shared<GivenImport>();
  CLI::App* const command = add_set_command(import, context, *given, "zset",
                                            "Move a sorted set whose members are the payloads");
  add_text(*command, "KEY", given->set, "The sorted set; a score is a due time")
      ->type_name("")
      ->required();
  add_examples(*command, std::string(R"(  duly import zset delayed --queue mail --dry-run
  duly import zset delayed --queue mail --score ms --type welcome
  duly import zset delayed --queue mail --follow
)") + kHowItGoes);
  context.on(command, [&context, given] { return import_set(context, *given); });
}

void add_zset_hash(CLI::App& import, Context& context) {
  const auto given = std::make_shared<GivenImport>();
  CLI::App* const command =
      add_set_command(import, context, *given, "zset-hash",
                      "Move a sorted set of ids, and the hash that holds their payloads");
  add_text(*command, "ZKEY", given->set, "The sorted set of ids; a score is a due time")
      ->type_name("")
      ->required();
  add_text(*command, "HKEY", given->contents, "The hash: id to payload")->type_name("")->required();
  add_examples(
      *command,
      std::string(R"(  duly import zset-hash timedTask_x timedTaskContent_x --queue x --dry-run
  duly import zset-hash timedTask_x timedTaskContent_x --queue x --follow
)") + kHowItGoes);
  context.on(command, [&context, given] { return import_set(context, *given); });
}

void add_ndjson(CLI::App& import, Context& context) {
  const auto given = std::make_shared<GivenImport>();
  CLI::App* const command =
      import.add_subcommand("ndjson", "Put the jobs of a file that duly export wrote");
  command->group("Commands");
  add_text(*command, "FILE", given->file, "One job a line [standard input]")->type_name("");
  add_queue_option(*command, given->queue);
  command->add_flag("--replay-dead", given->replays_dead,
                    "Put those that were dead or done, too, as new jobs");
  given->job.add_common_to(*command);
  add_examples(*command, R"(  duly export mail > mail.ndjson
  duly --redis redis://new import ndjson mail.ndjson --queue mail
  duly export mail | duly --redis redis://new import ndjson --queue mail

Payloads, ids, due times and policies come back byte for byte; a job that was active is ready. Jobs
that were dead or done are left out and counted, unless --replay-dead. By their ids jobs are put
once, however often this runs: exit status 7 if some were there before.
)");
  context.on(command, [&context, given] { return import_lines(context, *given); });
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  CLI::App* const import = app.add_subcommand("import", "Take in jobs: zset, zset-hash, ndjson");
  import->group(kProduce)->require_subcommand(1)->fallthrough();
  add_examples(*import, R"(  duly import zset delayed --queue mail --dry-run
  duly import zset-hash timedTask_x timedTaskContent_x --queue x
  duly export mail | duly --redis redis://new import ndjson --queue mail
)");
  add_zset(*import, context);
  add_zset_hash(*import, context);
  add_ndjson(*import, context);
}

}  // namespace duly::cli
