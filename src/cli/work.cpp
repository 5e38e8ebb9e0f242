#include <cstring>
#include <iostream>
#include <memory>
#include <thread>

#include "duly/worker.h"
#include "src/cli/arguments.h"
#include "src/cli/child.h"
#include "src/cli/commands.h"
#include "src/cli/due_text.h"
#include "src/cli/help.h"
#include "src/cli/job_text.h"
#include "src/cli/output.h"
#include "src/cli/queue_shares.h"
#include "src/cli/stop_signals.h"
#include "src/cli/work_log.h"
#include "src/core/bytes.h"
#include "src/core/check.h"

namespace duly::cli {
namespace {

constexpr int kGiveUp = 100;  // The exit status by which a command says that no attempt will do.

struct GivenWork {
  std::vector<QueueName> queues{};
  QueueShares shares{};
  std::string command{};
  std::optional<std::uint64_t> concurrency{};
  std::optional<Milliseconds> lease{};
  std::optional<Milliseconds> grace{};
};

std::vector<std::pair<std::string, std::string>> environment_of(const ActiveJob& job) {
  return {{"DULY_JOB_ID", job.id.text()},
          {"DULY_QUEUE", job.queue.text()},
          {"DULY_TYPE", job.type},
          {"DULY_ATTEMPT", std::to_string(job.attempt)},
          {"DULY_MAX_ATTEMPTS", std::to_string(job.max_attempts)},
          {"DULY_DUE_AT_MS", std::to_string(to_ms(job.due_at))},
          {"DULY_LATENESS_MS", std::to_string((job.claimed_at - job.due_at).count())}};
}

/// "exit 3: the end of its stderr", at most Limits::error bytes.
std::string error_text(const ChildEnd& end) {
  std::string text = end.was_stopped ? "stopped, " : "";
  if (end.signal != 0) {
    text += "signal " + std::to_string(end.signal) + " (" + ::strsignal(end.signal) + ")";
  } else {
    text += "exit " + std::to_string(end.exit_status);
  }
  std::string_view tail = end.error_tail;
  while (tail.ends_with('\n') || tail.ends_with('\r')) tail.remove_suffix(1);
  if (tail.empty()) return text;
  text += ": ";
  return text + std::string(core::tail_utf8(tail, Limits::error - text.size()));
}

void run_command(const std::string& command, Attempt& attempt, RunningChildren& running) {
  const ActiveJob& job = attempt.job();
  const ChildEnd end = run_child({.command = command,
                                  .input = job.payload,
                                  .environment = environment_of(job),
                                  .stop = attempt.stop_token()},
                                 running);
  if (!end.was_stopped && end.signal == 0) {
    if (end.exit_status == 0) return;
    if (end.exit_status == kGiveUp) throw GiveUp{error_text(end)};
  }
  throw std::runtime_error(error_text(end));
}

int work(const Context& context, const GivenWork& given) {
  if (given.lease) core::require(core::check_lease(*given.lease));
  WorkerOptions options;
  options.queues = given.shares.of(given.queues);
  options.order = given.shares.order();
  options.concurrency = given.concurrency.value_or(options.concurrency);
  options.lease = given.lease.value_or(options.lease);
  options.grace = given.grace.value_or(options.grace);
  WorkLog log;
  if (!context.is_quiet) {
    options.on_finished = [&log](const WorkerOptions::Report& report) { log.finished(report); };
  }

  RunningChildren running;
  WorkerStats stats;
  {
    Worker worker(context.connect(LogLevel::info), options);
    worker.handle(
        "", [&given, &running](Attempt& attempt) { run_command(given.command, attempt, running); });
    {
      // Not run_until_signal(): a signal of the first milliseconds is kept for this thread.
      const StopSignals signals([&worker](int number) {
        if (number == 1) {
          worker.stop();
        } else {
          worker.stop_now();
        }
      });
      const auto watcher = context.is_quiet ? std::jthread{} : log.watch(worker);
      worker.run();
      running.kill_all();  // What was given up must not go on beside its next attempt.
    }
    stats = worker.stats();
  }  // Now the last report has been logged.
  if (!context.is_quiet) log.summary(stats);
  return 0;
}

}  // namespace

void add_work(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenWork>();
  CLI::App* const command = app.add_subcommand("work", "Run a command for each due job");
  command->group(kWork);
  add_queues(*command, given->queues, "One or more")->required();
  command->add_option("--exec", given->command, "For sh -c; gets the payload on standard input")
      ->required()
      ->type_name("COMMAND");
  add_number(*command, "--concurrency", given->concurrency, {1, 1'000}, "Commands at once [10]");
  given->shares.add_to(*command);
  add_duration(*command, "--lease", given->lease,
               "Kept alive by itself while a command runs [30s]");
  add_duration(*command, "--grace", given->grace, "How long commands may go on after a stop [25s]");
  add_examples(*command, R"(  duly work mail --exec 'sendmail -t'
  duly work mail sms --exec './deliver "$DULY_QUEUE"' --concurrency 4 --grace 1m
  duly work urgent bulk --exec ./run --weight urgent=10 --reserve urgent=1

Environment: DULY_JOB_ID DULY_QUEUE DULY_TYPE DULY_ATTEMPT DULY_MAX_ATTEMPTS DULY_DUE_AT_MS
DULY_LATENESS_MS. Exit 0 acks the job, 100 gives it up (dead), all else and any signal fails it with
the end of its standard error as the error text. Its standard output is ours. At the job's timeout,
a cancel, a lost lease or a forced stop the command and all it started get SIGTERM, 2 s later SIGKILL.
SIGTERM or Ctrl-C stops claims and lets commands go on for the grace time, then gives their jobs back
unharmed; a second one does so at once. Exit status 0.
)");
  context.on(command, [&context, given] { return work(context, *given); });
  command->parse_complete_callback([&context] { context.takes_signals = true; });
}

}  // namespace duly::cli
