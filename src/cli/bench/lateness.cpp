#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "src/cli/bench/figure.h"
#include "src/cli/bench/server.h"
#include "src/cli/bench/work.h"

namespace duly::cli {
namespace {

using std::chrono::system_clock;

struct Plan {
  std::string name;
  std::size_t workers = 1;
  std::size_t handlers = 1;  ///< Of each worker.
  std::size_t jobs_per_s = 100;
  std::chrono::seconds length{10};
  std::optional<double> p50_most{};  ///< ms
  double p99_most = 0;               ///< ms
};

/// Start of the handler minus due time, in ms: on this machine's clock, which is Redis's, and as
/// the worker reports it.
class Record {
 public:
  void start(const ActiveJob& job) {
    const std::chrono::duration<double, std::milli> late = system_clock::now() - job.due_at;
    const std::lock_guard lock(mutex_);
    seen_.push_back(late.count());
  }
  void report(std::chrono::nanoseconds lateness) {
    const std::lock_guard lock(mutex_);
    reported_.push_back(std::chrono::duration<double, std::milli>(lateness).count());
  }
  [[nodiscard]] bool has(std::size_t jobs) {
    const std::lock_guard lock(mutex_);
    return seen_.size() >= jobs && reported_.size() >= jobs;
  }

  [[nodiscard]] const std::vector<double>& seen() const { return seen_; }
  [[nodiscard]] const std::vector<double>& reported() const { return reported_; }

 private:
  std::mutex mutex_;
  std::vector<double> seen_{};
  std::vector<double> reported_{};
};

struct Put {
  SystemTime at;
  NewJob job;
};

/// Evenly spread due times; every second job is put in advance, the others 5 to 100 ms before they
/// are due. In the order of the puts.
std::vector<Put> plan_puts(const Plan& plan, SystemTime first_due) {
  std::mt19937_64 random{1};  // NOLINT(cert-msc32-c,cert-msc51-cpp)
  std::vector<Put> puts;
  const std::size_t jobs = plan.jobs_per_s * static_cast<std::size_t>(plan.length.count());
  for (std::size_t i = 0; i < jobs; ++i) {
    NewJob job = bench_job();
    const SystemTime due = first_due + Milliseconds{i * 1000 / plan.jobs_per_s};
    job.due_at = due;
    const Milliseconds before{std::uniform_int_distribution<int>(5, 100)(random)};
    puts.push_back({i % 2 == 0 ? SystemTime{} : due - before, std::move(job)});
  }
  std::stable_sort(puts.begin(), puts.end(),
                   [](const Put& a, const Put& b) { return a.at < b.at; });
  return puts;
}

/// Puts each at its time; those of one millisecond together.
void put_in_time(Client& client, std::vector<Put> puts) {
  for (std::size_t i = 0; i < puts.size();) {
    std::this_thread::sleep_until(puts[i].at);
    std::vector<NewJob> jobs;
    for (const SystemTime now = now_ms(); i < puts.size() && puts[i].at <= now; ++i) {
      jobs.push_back(std::move(puts[i].job));
    }
    client.put("late", std::move(jobs));
  }
}

void measure(const Bench& bench, const BenchServer& server, const Plan& plan) {
  bench.note(plan.name + ": " + std::to_string(plan.length.count()) + " s");
  Client client(server.connect());
  Record record;
  std::vector<std::unique_ptr<RunningWorker>> workers;
  for (std::size_t i = 0; i < plan.workers; ++i) {
    workers.push_back(std::make_unique<RunningWorker>(
        server.connect(),
        WorkerOptions{.queues = {"late"},
                      .concurrency = plan.handlers,
                      .on_finished =
                          [&](const WorkerOptions::Report& done) { record.report(done.lateness); }},
        [&](Attempt& attempt) { record.start(attempt.job()); }));
  }
  const auto claims = [&] {
    std::uint64_t sum = 0;
    for (const auto& worker : workers) sum += worker->stats().claims;
    return sum;
  };
  await("all workers idle", [&] {
    return std::all_of(workers.begin(), workers.end(),
                       [](const auto& w) { return w->stats().claims > 0; });
  });

  const std::uint64_t claims_before = claims();
  auto puts = plan_puts(plan, now_ms() + std::chrono::seconds{1});
  const std::size_t jobs = puts.size();
  put_in_time(client, std::move(puts));
  await("all jobs done", [&] { return record.has(jobs); });
  const auto claims_sent = static_cast<double>(claims() - claims_before);
  workers.clear();

  const auto& seen = record.seen();
  const double p50 = quantile(seen, 0.5);
  const double p99 = quantile(seen, 0.99);
  const auto early = std::count_if(seen.begin(), seen.end(), [](double late) { return late < 0; });
  Row row{.name = plan.name, .value = p99, .unit = "ms"};
  row.more["p50"] = p50;
  row.more["p99"] = p99;
  row.more["max"] = quantile(seen, 1);
  row.more["early"] = early;
  row.more["jobs"] = seen.size();
  row.more["reported_p50"] = quantile(record.reported(), 0.5);
  row.more["reported_p99"] = quantile(record.reported(), 0.99);
  row.more["claims_per_job"] = claims_sent / static_cast<double>(jobs);
  if (plan.p50_most) row.at_most("p50", p50, *plan.p50_most);
  row.at_most("p99", p99, plan.p99_most);
  row.at_most("early", static_cast<double>(early), 0);
  bench.report(std::move(row));
}

}  // namespace

void measure_lateness(const Bench& bench) {
  const std::chrono::seconds calm{bench.is_quick ? 2 : 10};
  const std::chrono::seconds busy{bench.is_quick ? 1 : 5};
  const std::vector<Plan> plans{
      {.name = "lateness_100ps_1w", .length = calm, .p50_most = 0.3, .p99_most = 1},
      {.name = "lateness_100ps_100w",
       .workers = 100,
       .length = calm,
       .p50_most = 0.7,
       .p99_most = 1.5},
      {.name = "lateness_10kps",
       .handlers = 10,
       .jobs_per_s = 10'000,
       .length = busy,
       .p99_most = 10},
  };
  for (const Plan& plan : plans) {
    if (!bench.wants(plan.name)) continue;
    const BenchServer server(bench.server);
    measure(bench, server, plan);
  }
}

}  // namespace duly::cli
