#include "tests/support/lease_harness.h"

#include <algorithm>
#include <utility>

#include "src/redis/standalone.h"
#include "src/redis/url.h"
#include "tests/support/model_engine.h"

namespace duly::testing {
namespace {

constexpr std::string_view kManualClock = R"lua(local clock = {}

function clock.now(q)
  local us = tonumber(redis.call('HGET', q.meta, 'clock_us') or false)
  if not us then
    local time = redis.call('TIME')
    us = time[1] * 1000000 + time[2]
  end
  return math.floor(us / 1000), us
end
)lua";

EngineName engine_of(EngineKind kind) {
  switch (kind) {
    case EngineKind::pop:
      return EngineName::pop;
    case EngineKind::list:
      return EngineName::list;
    case EngineKind::stream:
      return EngineName::stream;
    case EngineKind::keyspace:
      return EngineName::keyspace;
    default:
      return EngineName::lease;
  }
}

// In the order of src/lua/queue.lua.
const std::vector<std::string>& key_parts() {
  static const std::vector<std::string> parts{"due",   "jobs",   "leases", "held",      "tries",
                                              "dead",  "meta",   "idle",   "keeper",    "done",
                                              "ready", "dedupe", "groups", "schedules", "events"};
  return parts;
}

class ModelHarness final : public EngineHarness {
 public:
  [[nodiscard]] std::shared_ptr<Engine> engine() override { return engine_; }
  [[nodiscard]] ManualClock& clock() override { return *clock_; }

 private:
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::shared_ptr<Engine> engine_ = make_model_engine(clock_);
};

}  // namespace

std::vector<LibraryPart> parts_with_manual_clock() {
  std::vector<LibraryPart> parts = library_parts();
  for (LibraryPart& part : parts) {
    if (part.name == "clock.lua") part.text = kManualClock;
  }
  return parts;
}

LeaseHarness::LeaseHarness(EngineKind kind)
    : raw_(server_.socket_path()),
      clock_([this](Microtime now) { tell(now); }),
      by_functions_(kind != EngineKind::scripts),
      engine_name_(engine_of(kind)) {
  raw({"ACL", "SETUSER", "contract", "on", ">secret", "~*", "&*", "+@all"});
  if (by_functions_) {
    raw({"FUNCTION", "LOAD", function_text(parts_with_manual_clock())});
  } else {
    raw({"ACL", "SETUSER", "contract", "-function", "-fcall", "-fcall_ro"});
    sha_ = raw({"SCRIPT", "LOAD", script_text(parts_with_manual_clock())}).text;
  }
  tell(clock_.now_us());
  for (const char* const queue : {"mail", "sms"}) {
    if (engine_name_ == EngineName::lease) break;
    raw({"HSET", "duly:{" + std::string(queue) + "}:meta", "engine",
         std::string(to_string(engine_name_))});
  }
  engine_ = make_engine({.parts = parts_with_manual_clock()});
}

LeaseHarness::~LeaseHarness() { io_.stop(); }

std::shared_ptr<Engine> LeaseHarness::make_engine(FunctionEngineOptions options) {
  options.process_name = "process" + std::to_string(++engines_);
  redis::Url url = redis::parse_url(server_.url());
  url.user = "contract";
  url.password = "secret";
  return make_function_engine(io_, redis::make_standalone(io_, {.url = std::move(url)}),
                              std::move(options));
}

void LeaseHarness::tell(Microtime now) {
  const std::string us = std::to_string(now.time_since_epoch().count());
  for (const char* const queue : {"mail", "sms"}) {
    raw({"HSET", "duly:{" + std::string(queue) + "}:meta", "clock_us", us});
  }
}

redis::Reply LeaseHarness::call(const std::string& function,
                                const std::vector<std::string>& arguments) {
  std::vector<std::string> words{by_functions_ ? "FCALL" : "EVALSHA",
                                 by_functions_ ? function : sha_,
                                 std::to_string(key_parts().size())};
  for (const std::string& part : key_parts()) words.push_back(key(part));
  if (!by_functions_) words.push_back(function);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return raw(words);
}

std::unique_ptr<EngineHarness> make_harness(EngineKind kind) {
  if (kind == EngineKind::model) return std::make_unique<ModelHarness>();
  return std::make_unique<LeaseHarness>(kind);
}

}  // namespace duly::testing
