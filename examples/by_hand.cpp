// Claim, extend, ack and fail without a Worker: for programs that have a loop of their own.
// Usage: by_hand [REDIS-URL]
#include <duly/duly.h>

#include <iostream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  duly::Connection redis(argc > 1 ? argv[1] : "");
  duly::Client client(redis);
  client.put("by-hand", {.type = "good", .payload = "fine", .delay = 300ms});
  client.put("by-hand", {.type = "bad", .payload = "broken", .delay = 300ms, .max_attempts = 2});

  for (int left = 2; left > 0;) {
    // Takes what is due, at most 10 jobs, and does not wait. Each is ours until its lease ends;
    // then anybody may have it, and our ack would be told `lease_lost`.
    const std::vector<duly::ActiveJob> jobs = client.claim("by-hand", {.most = 10, .lease = 5s});
    if (jobs.empty()) {
      // A Worker sleeps until the due instant and is woken for earlier jobs; by hand, look now and
      // then.
      std::this_thread::sleep_for(100ms);
      continue;
    }
    for (const duly::ActiveJob& job : jobs) {
      std::cout << job.type << ", attempt " << job.attempt << " of " << job.max_attempts << "\n";
      // Takes longer than thought? Keep the lease in time, say every third of it. One call keeps
      // the lease of all jobs of this claim.
      const duly::LeaseOutcome kept = client.extend(job, 10s);
      std::cout << "  " << to_string(kept) << "\n";
      if (kept == duly::LeaseOutcome::lease_lost)
        continue;  // Somebody else has it: leave it alone.

      duly::LeaseOutcome outcome{};
      if (job.type == "good") {
        outcome = client.ack(job);
      } else {
        // Again in 200 ms, instead of after the job's backoff. The second failure is the last:
        // dead.
        outcome = client.fail(job, {.error = "no good", .retry_in = 200ms});
      }
      std::cout << "  " << to_string(outcome) << "\n";
      if (outcome == duly::LeaseOutcome::acked || outcome == duly::LeaseOutcome::dead) --left;
    }
  }

  // Acking twice is harmless: the second one is told that the job is no longer ours.
  client.put("by-hand", {.type = "good"});
  for (const duly::ActiveJob& job : client.claim("by-hand")) {
    const auto first = client.ack(job);
    const auto second = client.ack(job);
    std::cout << to_string(first) << ", then " << to_string(second) << "\n";
  }
} catch (const duly::Error& error) {
  std::cerr << "by_hand: " << to_string(error.code()) << ": " << error.what() << "\n";
  return duly::exit_status(error.code());
}
