#include "tests/support/worker_process.h"

#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace duly::testing {
namespace {

std::vector<std::string> arguments(const WorkerProcessOptions& options, const DeliveryLog& log) {
  return {DULY_TEST_WORKER,
          options.url,
          options.queue,
          std::to_string(options.concurrency),
          std::to_string(options.lease.count()),
          std::to_string(options.grace.count()),
          log.path().string(),
          options.behaviour};
}

}  // namespace

DeliveryLog::DeliveryLog() {
  std::string name = (std::filesystem::temp_directory_path() / "duly-log-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) throw std::runtime_error("delivery log: not made");
  ::close(file);
  path_ = name;
}

DeliveryLog::~DeliveryLog() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::vector<Delivery> DeliveryLog::deliveries() const {
  std::vector<Delivery> all;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    Delivery one;
    std::int64_t lateness_us = 0;
    if (!(words >> kind >> one.id >> one.attempt >> lateness_us) || kind != "run") continue;
    one.lateness = std::chrono::microseconds{lateness_us};
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> DeliveryLog::endings() const {
  std::vector<std::string> all;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("end ")) all.push_back(line.substr(4));
  }
  return all;
}

WorkerProcess::WorkerProcess(const WorkerProcessOptions& options, std::shared_ptr<DeliveryLog> log)
    : log_(std::move(log)),
      program_(arguments(options, *log_), {.environment = options.environment}) {}

}  // namespace duly::testing
