#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace duly::testing {

/// How to run duly_test_worker; see worker_main.cpp for the behaviours.
struct WorkerProcessOptions {
  std::string url;
  std::string queue = "mail";
  std::size_t concurrency = 10;
  std::chrono::milliseconds lease{std::chrono::seconds{1}};
  std::chrono::milliseconds grace{std::chrono::seconds{5}};
  std::string behaviour = "ack";
  std::vector<std::pair<std::string, std::string>> environment{};  ///< Beside ours.
};

/// One start of a handler.
struct Delivery {
  std::string id;
  std::uint32_t attempt = 0;
  std::chrono::microseconds lateness{};  ///< Its moment on this machine's clock minus the due time.
};

/// What worker processes write down, each line by one write; it stands when they are killed.
class DeliveryLog {
 public:
  DeliveryLog();
  ~DeliveryLog();
  DeliveryLog(const DeliveryLog&) = delete;
  DeliveryLog& operator=(const DeliveryLog&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::vector<Delivery> deliveries() const;
  /// The attempts that have ended, as "id outcome".
  [[nodiscard]] std::vector<std::string> endings() const;

 private:
  std::filesystem::path path_;
};

/// A worker in a process of its own; killed at the latest with this object, or the test.
class WorkerProcess {
 public:
  /// Writes into `log`, or into a log of its own.
  explicit WorkerProcess(const WorkerProcessOptions& options,
                         std::shared_ptr<DeliveryLog> log = std::make_shared<DeliveryLog>());

  void signal(int number) const { program_.signal(number); }
  ProgramEnd wait() { return program_.wait(); }
  [[nodiscard]] pid_t pid() const { return program_.pid(); }
  [[nodiscard]] std::string err() const { return program_.err(); }
  [[nodiscard]] std::vector<Delivery> deliveries() const { return log_->deliveries(); }
  [[nodiscard]] std::vector<std::string> endings() const { return log_->endings(); }

 private:
  std::shared_ptr<DeliveryLog> log_;
  Program program_;
};

}  // namespace duly::testing
