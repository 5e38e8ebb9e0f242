#include <atomic>

#include "src/cli/bench/figure.h"
#include "src/cli/bench/server.h"
#include "src/cli/bench/work.h"

namespace duly::cli {
namespace {

constexpr std::size_t kConcurrency = 4;

struct Drained {
  double jobs_per_s = 0;
  double sent_per_job = 0;
  double nested_per_job = 0;
  double claims_per_job = 0;
};

/// From the start of a worker on a full queue until Redis has confirmed its last ack.
Drained drain(const BenchServer& server, Client& client, std::size_t jobs) {
  client.put("drain", std::vector<NewJob>(jobs, bench_job()));
  const Connection connection = server.connect();
  Client(connection).claim("other");  // It is connected, and knows the library.
  const auto before = server.commands();
  const auto begun_at = std::chrono::steady_clock::now();
  const RunningWorker worker(connection, {.queues = {"drain"}, .concurrency = kConcurrency},
                             [](Attempt&) {});
  await("all acked", [&] { return worker.stats().acked >= jobs; });
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begun_at;
  const auto after = server.commands();
  const auto count = static_cast<double>(jobs);
  return {.jobs_per_s = count / time.count(),
          .sent_per_job = (after.sent - before.sent) / count,
          .nested_per_job = (after.nested - before.nested) / count,
          .claims_per_job = static_cast<double>(worker.stats().claims) / count};
}

template <class Value>
double median_of(const std::vector<Drained>& runs, Value value) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const Drained& run : runs) values.push_back(run.*value);
  return median(values);
}

}  // namespace

void measure_drain(const Bench& bench) {
  const std::size_t jobs = bench.is_quick ? 60'000 : 300'000;
  const BenchServer server(bench.server);
  Client client(server.connect());
  std::vector<Drained> runs;
  for (int round = 1; round <= 3; ++round) {
    bench.note("worker_noop: " + std::to_string(round) + " of 3");
    runs.push_back(drain(server, client, jobs));
  }
  if (bench.wants("worker_noop")) {
    Row row{
        .name = "worker_noop", .value = median_of(runs, &Drained::jobs_per_s), .unit = "jobs/s"};
    row.more["jobs"] = jobs;
    row.more["handlers"] = kConcurrency;
    row.at_least("jobs/s", row.value, 140'000);
    bench.report(std::move(row));
  }
  if (bench.wants("commands_per_job")) {
    Row row{.name = "commands_per_job",
            .value = median_of(runs, &Drained::sent_per_job),
            .unit = "commands"};
    row.more["claims_per_job"] = median_of(runs, &Drained::claims_per_job);
    row.more["nested_per_job"] = median_of(runs, &Drained::nested_per_job);
    row.at_most("commands", row.value, 0.1);
    bench.report(std::move(row));
  }
}

}  // namespace duly::cli
