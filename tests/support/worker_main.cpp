// A worker in a process of its own, for tests that stop, kill and crash it.
//
//   duly_test_worker url queue concurrency lease_ms grace_ms log behaviour
//
// Writes to the file `log`, each by one write:
//   run ID ATTEMPT LATENESS_US   when a handler starts
//   end ID OUTCOME               when Redis has confirmed how it ended; in quiet behaviours not
//
// behaviour  ack       returns at once; quiet
//            ms:N      returns after N ms, and heeds its stop token
//            deaf:N    returns after N ms, whatever is asked
//            abort:N   as deaf:N, but calls abort() at once for jobs of type "bad"
// In each of them a job of type "fails" fails. Warnings go to standard error.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <string>

#include "duly/worker.h"
#include "tests/support/eventually.h"

namespace {

using std::chrono::milliseconds;

void write_line(int file, const std::string& line) {
  if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

// By the kernel's clock, which Redis has, too: a test may have given this process another one.
long long lateness_us(const duly::ActiveJob& job) {
  timespec now{};
  if (::syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) != 0) std::abort();
  const auto late = std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec} -
                    job.due_at.time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(late).count();
}

void warn(duly::LogLevel level, const std::string& text) {
  if (level >= duly::LogLevel::warning) std::fprintf(stderr, "%s\n", text.c_str());
}

void behave(const std::string& behaviour, const duly::Attempt& attempt) {
  if (behaviour.starts_with("abort:") && attempt.job().type == "bad") std::abort();
  const auto colon = behaviour.find(':');
  if (colon == std::string::npos) return;
  const milliseconds time{std::stoll(behaviour.substr(colon + 1))};
  const bool heeds = behaviour.starts_with("ms:");
  duly::testing::eventually([&] { return heeds && attempt.stop_token().stop_requested(); }, time);
}

int work(char** words) {
  const std::string behaviour = words[7];
  const int log = ::open(words[6], O_WRONLY | O_APPEND | O_CLOEXEC);
  if (log < 0) return 1;
  duly::WorkerOptions options{.queues = {words[2]},
                              .concurrency = std::stoul(words[3]),
                              .lease = milliseconds{std::stoll(words[4])},
                              .grace = milliseconds{std::stoll(words[5])}};
  if (behaviour != "ack") {
    options.on_finished = [log](const duly::WorkerOptions::Report& report) {
      write_line(
          log, "end " + report.job.id.text() + " " + std::string(to_string(report.outcome)) + "\n");
    };
  }
  duly::Worker worker(duly::Connection({.redis = words[1], .log = warn}), options);
  worker.handle("", [log, behaviour](duly::Attempt& attempt) {
    const duly::ActiveJob& job = attempt.job();
    write_line(log, "run " + job.id.text() + " " + std::to_string(job.attempt) + " " +
                        std::to_string(lateness_us(job)) + "\n");
    behave(behaviour, attempt);
    if (job.type == "fails") throw std::runtime_error("of this type");
  });
  worker.run_until_signal();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 8) return 2;
  try {
    return work(words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
