#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>

#include "duly/admin.h"
#include "src/cli/bench/figure.h"
#include "src/cli/bench/holder.h"
#include "src/cli/bench/server.h"
#include "src/cli/bench/work.h"

namespace duly::cli {
namespace {

constexpr std::size_t kJobs = 100;
constexpr std::chrono::seconds kLease{2};
constexpr auto kHolder = "bench-holder";

/// A process of this program that works on jobs without end.
class Holder {
 public:
  explicit Holder(const std::string& url) {
    std::string program = "duly";
    std::string command = kHolder;
    std::string option = "--redis=" + url;
    char* const argv[]{program.data(), command.data(), option.data(), nullptr};
    if (::posix_spawn(&pid_, "/proc/self/exe", nullptr, nullptr, argv, environ) != 0) {
      throw Error(ErrorCode::internal, "bench: no process left for a worker");
    }
  }
  ~Holder() { kill(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

/// When the last lease of a queue ends.
SystemTime last_lease_end(const BenchServer& server, const std::string& queue) {
  bench::RawLink link(server.port());
  const auto found = link.ask({"ZREVRANGEBYSCORE", "duly:{" + queue + "}:leases", "(inf", "-inf",
                               "WITHSCORES", "LIMIT", "0", "1"});
  if (found.size() != 2) throw Error(ErrorCode::internal, "bench: no lease to recover");
  return SystemTime{Milliseconds{std::stoll(found[1])}};
}

int hold(const Context& context) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Worker worker(context.connect(), {.queues = {"killed"}, .concurrency = kJobs, .lease = kLease});
  worker.handle("", [](Attempt& attempt) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, attempt.stop_token(), [] { return false; });
  });
  worker.run();
  return 0;
}

}  // namespace

void add_bench_holder(CLI::App& app, Context& context) {
  CLI::App* const command = app.add_subcommand(kHolder, "A worker for the bench to kill");
  command->group("");
  context.on(command, [&context] { return hold(context); });
}

void measure_recovery(const Bench& bench) {
  bench.note("recovery_after_kill");
  const BenchServer server(bench.server);
  Client client(server.connect());
  Admin admin(server.connect());
  client.put("killed", std::vector<NewJob>(kJobs, bench_job()));
  Holder holder(server.url());
  await("all jobs active", [&] { return admin.stats("killed").active == kJobs; });

  std::mutex mutex;
  std::vector<std::chrono::system_clock::time_point> started_at;
  const RunningWorker other(server.connect(), {.queues = {"killed"}, .concurrency = kJobs},
                            [&](Attempt&) {
                              const auto now = std::chrono::system_clock::now();
                              const std::lock_guard lock(mutex);
                              started_at.push_back(now);
                            });
  await("the other worker idle", [&] { return other.stats().claims > 0; });
  holder.kill();
  const SystemTime end = last_lease_end(server, "killed");
  await("all jobs recovered", [&] { return other.stats().acked == kJobs; });

  const std::lock_guard lock(mutex);
  const std::chrono::duration<double> after =
      *std::max_element(started_at.begin(), started_at.end()) - end;
  Row row{.name = "recovery_after_kill", .value = after.count(), .unit = "s"};
  row.more["jobs"] = started_at.size();
  row.more["lease_s"] = kLease.count();
  row.at_most("s after the lease end", after.count(), 1);
  bench.report(std::move(row));
}

}  // namespace duly::cli
