// Runs the shop's jobs until Ctrl-C or SIGTERM: what a handler may say, and how it learns that it
// must stop. Usage: worker [REDIS-URL]      Put the jobs with the example `producer`.
#include <duly/duly.h>
#include <duly/nlohmann.h>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>

using namespace std::chrono_literals;

struct Order {
  int number = 0;
  std::string mail;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Order, number, mail)

// Stands for work that takes a while. False: stop was asked before the end.
bool work_for(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any asked;
  std::unique_lock lock(mutex);
  asked.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

int main(int argc, char** argv) try {
  duly::Connection redis(argc > 1 ? argv[1] : "");
  duly::WorkerOptions options{.queues = {"shop"}, .concurrency = 8, .grace = 10s};
  // Told of each attempt once Redis has confirmed its end: a place for logs and metrics.
  options.on_finished = [](const duly::WorkerOptions::Report& report) {
    std::cout << report.job.id.text() << ": " << to_string(report.outcome);
    if (!report.error.empty()) std::cout << " (" << report.error << ")";
    std::cout << std::endl;
  };
  duly::Worker worker(redis, options);

  // Returning acks the job. Delivery is at least once, so bear a second run: here, by cancelling an
  // order that is already cancelled.
  worker.handle("unpaid", duly::typed_handler<Order>([](const Order&, duly::Attempt& attempt) {
                  // A long handler listens: the worker shuts down, the lease is lost, or the
                  // timeout has passed.
                  if (!work_for(200ms, attempt.stop_token()))
                    throw std::runtime_error("interrupted");
                }));

  // Any exception fails the attempt; the job runs again after its backoff. RetryAfter names the
  // time itself, as a mail server does that says "busy, come back in a second".
  worker.handle("reminder", duly::typed_handler<Order>([](const Order&, duly::Attempt& attempt) {
                  if (attempt.job().attempt == 1) throw duly::RetryAfter{1s, "mail server is busy"};
                }));

  // GiveUp: no attempt will ever do. The job is dead, and stays there to be looked at or replayed.
  worker.handle("review", duly::typed_handler<Order>([](const Order& order, duly::Attempt&) {
                  if (order.number == 1042) throw duly::GiveUp{"the customer wants no mail"};
                }));

  worker.run_until_signal();
  std::cout << "acked " << worker.stats().acked << ", died " << worker.stats().died << "\n";
} catch (const duly::Error& error) {
  std::cerr << "worker: " << to_string(error.code()) << ": " << error.what() << "\n";
  return duly::exit_status(error.code());
}
