// Looks at all queues, and cancels one job if it is named.
// Usage: inspect [REDIS-URL [QUEUE ID]]
#include <duly/duly.h>

#include <iostream>

namespace {

// All waiting jobs of a queue, page by page, in order of due time.
void show_scheduled(duly::Admin& admin, const duly::QueueName& queue) {
  duly::ListOptions options{.most = 100};
  while (true) {
    const duly::JobPage page = admin.list(queue, duly::JobState::scheduled, options);
    for (const duly::JobInfo& job : page.jobs) {
      std::cout << "  " << job.id.text() << " (" << job.type << ")";
      // Times are Redis's; this is how long after its put the job is due.
      if (job.due_at)
        std::cout << ", due " << (*job.due_at - job.put_at) / std::chrono::seconds{1}
                  << " s after its put";
      if (job.failures > 0)
        std::cout << ", failed " << job.failures << " times: " << job.last_error;
      std::cout << "\n";
    }
    if (!page.next) return;
    options.after = *page.next;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  duly::Connection redis(argc > 1 ? argv[1] : "");
  duly::Admin admin(redis);

  if (argc > 3) {
    // done, not_found, or wrong_state: a job that is running cannot be cancelled.
    const duly::ChangeOutcome outcome = admin.cancel(argv[2], duly::JobId(argv[3]));
    std::cout << "cancel " << argv[3] << ": " << to_string(outcome) << "\n";
  }

  for (const duly::QueueName& queue : admin.queues()) {
    const duly::QueueStats stats = admin.stats(queue);
    std::cout << queue.text() << (stats.is_paused ? " (paused)" : "") << ": " << stats.scheduled
              << " scheduled, " << stats.ready << " ready, " << stats.active << " active, "
              << stats.dead << " dead; " << stats.totals.acked << " of " << stats.totals.put
              << " acked so far\n";
    show_scheduled(admin, queue);
  }
} catch (const duly::Error& error) {
  std::cerr << "inspect: " << to_string(error.code()) << ": " << error.what() << "\n";
  return duly::exit_status(error.code());
}
