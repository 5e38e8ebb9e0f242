#include <algorithm>
#include <memory>
#include <thread>

#include "duly/client.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/due_text.h"
#include "src/cli/help.h"
#include "src/cli/job_text.h"
#include "src/cli/logging.h"
#include "src/cli/output.h"
#include "src/core/bytes.h"
#include "src/core/check.h"

namespace duly::cli {
namespace {

constexpr std::uint64_t kMostClaimed = 10'000;
constexpr Milliseconds kLookAgain{50};  // While --wait lasts; `duly work` is woken instead.

struct GivenClaim {
  QueueName queue{};
  std::optional<std::uint64_t> most{};
  std::optional<Milliseconds> lease{};
  std::optional<Milliseconds> wait{};
};

std::vector<ActiveJob> claim(Client& client, const GivenClaim& given) {
  ClaimOptions options;
  options.most = given.most.value_or(options.most);
  options.lease = given.lease.value_or(options.lease);
  const auto give_up_at = std::chrono::steady_clock::now() + given.wait.value_or(Milliseconds{0});
  for (;;) {
    std::vector<ActiveJob> jobs = client.claim(given.queue, options);
    const auto now = std::chrono::steady_clock::now();
    if (!jobs.empty() || now >= give_up_at) return jobs;
    std::this_thread::sleep_for(
        std::min<std::chrono::steady_clock::duration>(kLookAgain, give_up_at - now));
  }
}

void print_job(const ActiveJob& job) {
  print_line("id       " + job.id.text());
  print_line("token    " + job.token.text());
  if (!job.type.empty()) print_line("type     " + core::printable(job.type));
  print_line("attempt  " + std::to_string(job.attempt) + " of " + std::to_string(job.max_attempts));
  print_line("due      " + due_text(job.due_at));
  print_line("lease    " + about(job.lease));
  print_line("payload  " + preview(job.payload, 1024));
}

int claim_and_print(const Context& context, const GivenClaim& given) {
  if (given.lease) core::require(core::check_lease(*given.lease));
  Client client(context.connect());
  const std::vector<ActiveJob> jobs = claim(client, given);
  for (const ActiveJob& job : jobs) {
    if (context.is_json) {
      print_json(claim_json(job));
      continue;
    }
    if (&job != &jobs.front()) print_line("");
    print_job(job);
  }
  if (jobs.empty() && !context.is_json && !context.is_quiet) {
    flush_output();
    notice("no job of " + given.queue.text() + " is due");
  }
  return 0;
}

}  // namespace

void add_claim(CLI::App& app, Context& context) {
  const auto given = std::make_shared<GivenClaim>();
  CLI::App* const command = app.add_subcommand("claim", "Take due jobs under a lease, by hand");
  command->group(kWork);
  add_queue(*command, given->queue);
  add_number(*command, "--most", given->most, {1, kMostClaimed}, "At most so many jobs [1]");
  add_duration(*command, "--lease", given->lease, "For jobs that do not bring their own [30s]");
  add_duration(*command, "--wait", given->wait, "Wait so long for the first job [0s]");
  add_examples(*command, R"(  duly claim mail
  duly claim mail --most 10 --lease 5m --json
  duly claim mail --wait 1m

Then ack, fail, release or extend each job by its id and token; a job for which none of these comes
is given to others once its lease ends. No job due is no error: nothing is printed, exit status 0.
)");
  context.on(command, [&context, given] { return claim_and_print(context, *given); });
}

}  // namespace duly::cli
