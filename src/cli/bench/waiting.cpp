#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "src/cli/bench/figure.h"
#include "src/cli/bench/server.h"
#include "src/cli/bench/work.h"

namespace duly::cli {
namespace {

/// Memory of this process, in KiB.
double resident_kib() {
  double all = 0;
  double resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024;
}

/// What Linux could give without swapping, in bytes.
double available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string name;
  double kib = 0;
  while (info >> name >> kib) {
    if (name == "MemAvailable:") return kib * 1024;
    info.ignore(80, '\n');
  }
  return 0;
}

void idle(const Bench& bench, const BenchServer& server, std::size_t waiting) {
  const std::chrono::seconds time{bench.is_quick ? 10 : 20};
  bench.note("idle_commands_per_s: " + std::to_string(time.count()) + " s");
  const RunningWorker worker(server.connect(), {.queues = {"waiting"}}, [](Attempt&) {});
  await("first claim", [&] { return worker.stats().claims > 0; });
  std::this_thread::sleep_for(std::chrono::seconds{1});  // What it does once is done.

  const auto before = server.commands();
  const double memory_before = resident_kib();
  std::this_thread::sleep_for(time);
  const auto after = server.commands();
  const double growth = resident_kib() - memory_before;

  const auto seconds = static_cast<double>(time.count());
  Row row{.name = "idle_commands_per_s",
          .value = (after.sent - before.sent) / seconds,
          .unit = "commands/s"};
  row.more["nested_per_s"] = (after.nested - before.nested) / seconds;
  row.more["worker_growth_kib"] = std::max(0.0, growth);
  row.more["waiting"] = waiting;
  row.at_most("commands/s", row.value, 1);
  bench.report(std::move(row));
}

}  // namespace

void measure_waiting(const Bench& bench) {
  const std::size_t count = bench.is_quick ? 100'000 : 1'000'000;
  const BenchServer server(bench.server);
  Client client(server.connect());
  life(client, "waiting", 1)();  // What exists once is no memory per job.
  bench.note("filling: " + number_text(static_cast<double>(count)) + " jobs");
  const double empty = server.used_memory();
  fill(client, "waiting", count);
  if (bench.wants("bytes_per_job")) {
    const double bytes = (server.used_memory() - empty) / static_cast<double>(count);
    Row row{.name = "bytes_per_job", .value = bytes, .unit = "bytes"};
    row.more["waiting"] = count;
    row.at_most("bytes", bytes, 320);
    bench.report(std::move(row));
  }
  if (bench.wants("life_batch100_1m")) {
    bench.note("life_batch100_1m: filling the floor");
    bench::Floor filler(server.port(), "floor", bench::Floor::Form::variadic);
    fill(filler, count);
    // Ids of its own, which are not among those of the filler.
    bench::Floor each(server.port(), "floor", bench::Floor::Form::each, "life-");
    bench.note("life_batch100_1m");
    const auto measured = alternate({life(client, "waiting", kBatch), life(each, kBatch)},
                                    bench.slices(server.pid()));
    Row row = beside_floor("life_batch100_1m", measured);
    row.more["waiting"] = count;
    row.at_least("ratio", *row.ratio, 1);
    bench.report(std::move(row));
  }
  if (bench.wants("idle_commands_per_s")) idle(bench, server, count);
}

void measure_long_queue(const Bench& bench) {
  constexpr std::size_t kCount = 10'000'000;
  constexpr double kNeeded = 6e9;  // About 3.2 GB, and as much again where hash tables grow.
  if (bench.is_quick) return;
  if (available_memory() < kNeeded) {
    return bench.note("life_10m_vs_0: left out, needs 6 GB of free memory");
  }
  const BenchServer server(bench.server);
  Client client(server.connect());
  bench.note("life_10m_vs_0: filling 10,000,000 jobs");
  fill(client, "long", kCount);
  bench.note("life_10m_vs_0");
  const auto measured = alternate({life(client, "long", kBatch), life(client, "empty", kBatch)},
                                  bench.slices(server.pid()));
  Row row{.name = "life_10m_vs_0", .value = measured[1].ratio, .unit = "ratio"};
  row.more["jobs_per_s_at_10m"] = measured[0].rate;
  row.more["jobs_per_s_at_0"] = measured[1].rate;
  row.at_least("ratio", row.value, 0.6);
  bench.report(std::move(row));
}

}  // namespace duly::cli
