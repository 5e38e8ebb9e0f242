#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/contract/refusals.h"
#include "tests/support/engine_harness.h"
#include "tests/support/lease_harness.h"
#include "tests/support/sync_queue.h"

namespace duly::testing {

/// First in a test of what not every engine can do: of one that cannot, the refusal is tested.
#define NEEDS(ability)                                                                        \
  if (!harness().capabilities().ability) {                                                    \
    return expect_refusal(&Capabilities::ability, harness().capabilities(), mail(), clock()); \
  }                                                                                           \
  static_assert(true)

/// Tests that hold for every engine. Each starts with two empty queues, "mail" and "sms".
class EngineContract : public ::testing::TestWithParam<EngineKind> {
 protected:
  [[nodiscard]] Engine& engine() { return *harness_->engine(); }
  [[nodiscard]] ManualClock& clock() { return harness_->clock(); }
  [[nodiscard]] SyncQueue& mail() { return mail_; }
  [[nodiscard]] SyncQueue& sms() { return sms_; }
  [[nodiscard]] EngineHarness& harness() { return *harness_; }

  /// Puts a job, due at once, and claims it.
  ActiveJob put_and_claim(NewJob job, Milliseconds lease = std::chrono::seconds{30}) {
    mail_.put(std::move(job));
    return mail_.claim_one(lease);
  }
  /// Puts a job and lets its first attempt be the last.
  void put_and_kill(NewJob job) {
    const ActiveJob active = put_and_claim(std::move(job));
    mail_.fail(active, {.error = "broken", .then = Failure::Then::give_up});
  }

 private:
  std::unique_ptr<EngineHarness> harness_ = make_harness(GetParam());
  SyncQueue mail_{harness_->engine(), "mail"};
  SyncQueue sms_{harness_->engine(), "sms"};
};

/// Tests of what lies in Redis: the lease engine alone.
class LeaseContract : public EngineContract {
 protected:
  [[nodiscard]] LeaseHarness& lease() { return dynamic_cast<LeaseHarness&>(harness()); }
};

inline std::string kind_name(const ::testing::TestParamInfo<EngineKind>& info) {
  switch (info.param) {
    case EngineKind::model:
      return "model";
    case EngineKind::functions:
      return "functions";
    case EngineKind::scripts:
      return "scripts";
    case EngineKind::pop:
      return "pop";
    case EngineKind::list:
      return "list";
    case EngineKind::stream:
      return "stream";
    case EngineKind::keyspace:
      return "keyspace";
  }
  return "";
}

inline auto every_engine() {
  return ::testing::Values(EngineKind::model, EngineKind::functions, EngineKind::scripts,
                           EngineKind::pop, EngineKind::list, EngineKind::stream,
                           EngineKind::keyspace);
}
inline auto lease_engines() {
  return ::testing::Values(EngineKind::functions, EngineKind::scripts);
}

inline JobId operator""_id(const char* text, std::size_t length) {
  return JobId(std::string(text, length));
}

/// The ids of jobs, in order.
template <class Jobs>
std::vector<JobId> ids_of(const Jobs& jobs) {
  std::vector<JobId> ids;
  for (const auto& job : jobs) ids.push_back(job.id);
  return ids;
}

inline std::vector<Held> held_of(const std::vector<ActiveJob>& jobs) {
  std::vector<Held> held;
  for (const ActiveJob& job : jobs) held.push_back(SyncQueue::held(job));
  return held;
}

}  // namespace duly::testing
