#include "src/cli/bench/work.h"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "duly/error.h"

namespace duly::cli {
namespace {

constexpr std::size_t kFillBatch = 10'000;
constexpr std::size_t kFloorFillBatch = 1000;

/// Due times from a day to a day and an hour from now; the same row of them in each run.
class FarTimes {
 public:
  SystemTime next() {
    return first_ +
           Milliseconds{std::uniform_int_distribution<std::int64_t>(0, 3'600'000)(random_)};
  }

 private:
  SystemTime first_ = now_ms() + std::chrono::hours{24};
  std::mt19937_64 random_{1};  // NOLINT(cert-msc32-c,cert-msc51-cpp)
};

[[noreturn]] void lose(const std::string& what, std::size_t got, std::size_t expected) {
  throw Error(ErrorCode::internal, "bench: " + std::to_string(got) + " jobs " + what +
                                       ", expected " + std::to_string(expected));
}

}  // namespace

SystemTime now_ms() {
  return std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
}

NewJob bench_job() { return {.type = "bench", .payload = std::string(100, 'x')}; }

void fill(Client& client, const QueueName& queue, std::size_t count) {
  FarTimes times;
  for (std::size_t done = 0; done < count; done += kFillBatch) {
    std::vector<NewJob> jobs(std::min(kFillBatch, count - done), bench_job());
    for (NewJob& job : jobs) job.due_at = times.next();
    for (const PutResult& result : client.put(queue, std::move(jobs))) {
      if (result.error) throw Error(*result.error);
    }
  }
}

void fill(bench::Floor& floor, std::size_t count) {
  FarTimes times;
  for (std::size_t done = 0; done < count; done += kFloorFillBatch) {
    std::vector<std::int64_t> due(std::min(kFloorFillBatch, count - done));
    for (std::int64_t& at : due) at = times.next().time_since_epoch().count();
    floor.put(due);
  }
}

Step life(Client& client, QueueName queue, std::size_t jobs) {
  return [&client, queue = std::move(queue), jobs] {
    client.put(queue, std::vector<NewJob>(jobs, bench_job()));
    const auto claimed = client.claim(queue, {.most = jobs});
    if (claimed.size() != jobs) lose("claimed", claimed.size(), jobs);
    std::vector<Held> held;
    held.reserve(jobs);
    for (const ActiveJob& job : claimed) held.push_back({job.id, job.token});
    const auto outcomes = client.ack(queue, held);
    const auto acked = std::count(outcomes.begin(), outcomes.end(), LeaseOutcome::acked);
    if (static_cast<std::size_t>(acked) != jobs)
      lose("acked", static_cast<std::size_t>(acked), jobs);
    return jobs;
  };
}

Step life(bench::Floor& floor, std::size_t jobs) {
  return [&floor, jobs] {
    floor.put(std::vector<std::int64_t>(jobs, now_ms().time_since_epoch().count()));
    floor.finish();
    return jobs;
  };
}

RunningWorker::RunningWorker(const Connection& connection, WorkerOptions options, Handler handler)
    : worker_(std::make_unique<Worker>(connection, std::move(options))) {
  worker_->handle("", std::move(handler));
  run_ = std::async(std::launch::async, [worker = worker_.get()] { worker->run(); });
}

RunningWorker::~RunningWorker() {
  worker_->stop();
  run_.wait();
}

void await(const std::string& what, const std::function<bool()>& condition, Milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) {
      throw Error(ErrorCode::internal, "bench: not in time: " + what);
    }
    std::this_thread::sleep_for(Milliseconds{1});
  }
}

}  // namespace duly::cli
