#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/engine/function_engine.h"
#include "src/redis/io.h"
#include "tests/support/engine_harness.h"
#include "tests/support/raw_redis.h"
#include "tests/support/redis_server.h"

namespace duly::testing {

/// The parts of the function library, with a clock that reads the field `clock_us` of the queue's
/// meta hash; where it is missing, time is Redis's.
std::vector<LibraryPart> parts_with_manual_clock();

/// The lease engine on a redis-server of its own. Its queues "mail" and "sms" are on the manual
/// clock.
class LeaseHarness final : public EngineHarness {
 public:
  explicit LeaseHarness(EngineKind kind);
  ~LeaseHarness() override;

  [[nodiscard]] std::shared_ptr<Engine> engine() override { return engine_; }
  [[nodiscard]] ManualClock& clock() override { return clock_; }
  [[nodiscard]] const Capabilities& capabilities() const override {
    return capabilities_of(engine_name_);
  }
  [[nodiscard]] RedisServer& server() { return server_; }

  /// A command behind the engine's back.
  redis::Reply raw(const std::vector<std::string>& words) { return raw_.command(words); }
  /// A function of the library, called on the queue "mail".
  redis::Reply call(const std::string& function, const std::vector<std::string>& arguments);
  /// "duly:{mail}:jobs" for "jobs".
  static std::string key(const std::string& part) { return "duly:{mail}:" + part; }

  /// One more engine on the same server.
  std::shared_ptr<Engine> make_engine(FunctionEngineOptions options);

 private:
  void tell(Microtime now);

  RedisServer server_;
  RawRedis raw_;
  ManualClock clock_;
  bool by_functions_;
  EngineName engine_name_;
  std::string sha_{};
  redis::Io io_;
  std::shared_ptr<Engine> engine_;
  int engines_ = 0;
};

}  // namespace duly::testing
