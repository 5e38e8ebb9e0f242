// Puts the three jobs that a shop plans when an order comes in, and shows what may be done about
// errors. Usage: producer [REDIS-URL]     then: worker [REDIS-URL]
#include <duly/duly.h>
#include <duly/nlohmann.h>

#include <iostream>
#include <string>
#include <vector>

using namespace std::chrono_literals;

// What the worker needs to know. Keep it small: a job's number is better than a copy of the whole
// order, which may have changed when the job is due.
struct Order {
  int number = 0;
  std::string mail;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Order, number, mail)

int main(int argc, char** argv) try {
  // Without a URL: what DULY_REDIS names, or a private Redis that starts by itself.
  duly::Connection redis(argc > 1 ? argv[1] : "");
  duly::Client client(redis);

  const Order order{.number = 1042, .mail = "ada@example.org"};
  // An id of your own makes a put safe to repeat, and names the job for a later cancel or
  // reschedule.
  const auto id = [&order](const char* what) {
    return duly::JobId(std::to_string(order.number) + "-" + what);
  };
  std::vector<duly::NewJob> jobs{
      duly::typed_job("unpaid", order, {.delay = 30min, .id = id("unpaid")}),
      duly::typed_job("reminder", order, {.delay = 24h, .id = id("reminder"), .timeout = 1min}),
      duly::typed_job("review", order, {.delay = 7 * 24h, .id = id("review"), .max_attempts = 3})};

  // Many at once travel together; each has its own result, in order.
  for (const duly::PutResult& result : client.put("shop", jobs)) {
    std::cout << result.id.text() << ": " << to_string(result.outcome);
    if (result.error) std::cout << " (" << result.error->what() << ")";
    std::cout << "\n";
  }

  // The same put again changes nothing: the job is there.
  const duly::PutResult again = client.put("shop", jobs.front());
  std::cout << again.id.text() << " again: " << to_string(again.outcome) << "\n";
} catch (const duly::Error& error) {
  // unavailable: nothing happened, try later. outcome_unknown: put again with the same id.
  std::cerr << "producer: " << to_string(error.code()) << ": " << error.what() << "\n";
  return duly::exit_status(error.code());
}
