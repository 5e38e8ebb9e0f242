#include "src/cli/bench/figure.h"
#include "src/cli/bench/server.h"
#include "src/cli/bench/work.h"

namespace duly::cli {
namespace {

constexpr auto kFar = std::chrono::hours{24};

Row compared(const std::string& name, const std::vector<Measured>& measured) {
  Row row = beside_floor(name, measured);
  row.more["floor_variadic"] = measured[2].rate;
  row.more["ratio_variadic"] = measured[2].ratio;
  return row;
}

Step put(Client& client, QueueName queue) {
  return [&client, queue = std::move(queue)] {
    NewJob job = bench_job();
    job.due_at = now_ms() + kFar;
    client.put(queue, std::vector<NewJob>(kBatch, job));
    return kBatch;
  };
}

Step put(bench::Floor& floor) {
  return [&floor] {
    floor.put(std::vector<std::int64_t>(kBatch, (now_ms() + kFar).time_since_epoch().count()));
    return kBatch;
  };
}

}  // namespace

void measure_lives(const Bench& bench) {
  const BenchServer server(bench.server);
  Client client(server.connect());
  bench::Floor each(server.port(), "each", bench::Floor::Form::each);
  bench::Floor variadic(server.port(), "variadic", bench::Floor::Form::variadic);
  const auto measure_life = [&](const std::string& name, std::size_t jobs) {
    bench.note(name);
    return compared(name,
                    alternate({life(client, "life", jobs), life(each, jobs), life(variadic, jobs)},
                              bench.slices(server.pid())));
  };

  if (bench.wants("life_batch100")) {
    Row row = measure_life("life_batch100", kBatch);
    row.at_least("ratio", *row.ratio, 1);
    bench.report(std::move(row));
  }
  if (bench.wants("life_single")) bench.report(measure_life("life_single", 1));
  if (bench.wants("put_batch100")) {
    bench.note("put_batch100");
    bench.report(compared("put_batch100", alternate({put(client, "put"), put(each), put(variadic)},
                                                    bench.slices(server.pid()))));
  }
}

}  // namespace duly::cli
