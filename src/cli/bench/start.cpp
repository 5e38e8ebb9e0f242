#include <unistd.h>

#include <algorithm>

#include "src/cli/bench/figure.h"
#include "src/cli/bench/work.h"
#include "src/cli/temporary_folder.h"
#include "src/embedded/embedded.h"

namespace duly::cli {
namespace {

double start_ms() {
  const TemporaryFolder folder("bench");
  const auto begun_at = std::chrono::steady_clock::now();
  const EmbeddedRedis redis(folder.path() / "data", {});
  Client client{Connection(redis.url())};
  client.put("first", bench_job());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun_at)
      .count();
}

}  // namespace

void measure_start(const Bench& bench) {
  bench.note("embedded_start");
  // The embedded Redis is found by this name.
  ::setenv("DULY_REDIS_SERVER", bench.server.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  std::vector<double> times(5);
  std::generate(times.begin(), times.end(), start_ms);
  Row row{.name = "embedded_start", .value = median(times), .unit = "ms"};
  row.more["max"] = *std::max_element(times.begin(), times.end());
  row.at_most("ms", row.value, 150);
  bench.report(std::move(row));
}

}  // namespace duly::cli
