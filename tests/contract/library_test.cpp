#include <future>

#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

/// Which function library an engine uses: its own, or the one that is there.
class LeaseLibrary : public ::testing::Test {
 protected:
  /// An engine whose library says that it is of this version.
  static FunctionEngineOptions options_of(const std::string& version) {
    static std::vector<std::unique_ptr<std::string>> texts;  // parts are views
    FunctionEngineOptions options{.parts = parts_with_manual_clock(), .version = version};
    for (LibraryPart& part : options.parts) {
      if (part.name != "control.lua") continue;
      auto text = std::make_unique<std::string>(part.text);
      const std::string ours = "'" + std::string(kVersion) + "'";
      text->replace(text->rfind(ours), ours.size(), "'" + version + "'");
      part.text = *text;
      texts.push_back(std::move(text));
    }
    return options;
  }
  SyncQueue queue_of_version(const std::string& version) {
    return {harness_.make_engine(options_of(version)), "mail"};
  }
  std::string version_in_redis() {
    const redis::Reply reply = harness_.raw({"FCALL", "duly_version", "0"});
    return reply.items.size() == 2 ? reply.items[1].text : reply.text;
  }
  template <class T>
  static T ask(Engine& engine, void (Engine::*function)(Deadline, Done<T>)) {
    std::promise<Result<T>> promise;
    (engine.*function)(std::chrono::steady_clock::now() + 20s,
                       [&](Result<T> result) { promise.set_value(std::move(result)); });
    return promise.get_future().get().take();
  }
  static ErrorCode refusal(SyncQueue& queue) {
    try {
      queue.put({});
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  }

  LeaseHarness harness_{EngineKind::functions};
};

TEST_F(LeaseLibrary, IsLoadedByTheFirstCallIfItIsMissing) {
  harness_.raw({"FUNCTION", "FLUSH"});

  queue_of_version("0.5.0").put({});

  EXPECT_EQ(version_in_redis(), "0.5.0");
}

TEST_F(LeaseLibrary, IsLoadedAgainIfItVanishes) {
  SyncQueue queue = queue_of_version("0.5.0");
  queue.put({});
  harness_.raw({"FUNCTION", "FLUSH"});

  EXPECT_EQ(queue.put({}).outcome, PutOutcome::created);
  EXPECT_EQ(version_in_redis(), "0.5.0");
}

TEST_F(LeaseLibrary, ReplacesAnOlderOneOfItsMajorVersion) {
  queue_of_version("0.5.0").put({.id = "a"_id});

  SyncQueue newer = queue_of_version("0.5.1");

  EXPECT_EQ(newer.put({.id = "a"_id}).outcome, PutOutcome::exists);
  EXPECT_EQ(version_in_redis(), "0.5.1");
}

TEST_F(LeaseLibrary, ReplacesAnOlderOneOfAnEarlierMajorVersion) {
  queue_of_version("0.5.0").put({});

  queue_of_version("1.0.0").put({});

  EXPECT_EQ(version_in_redis(), "1.0.0");
}

TEST_F(LeaseLibrary, ComparesVersionsByNumberNotByText) {
  queue_of_version("0.10.0").put({});

  queue_of_version("0.9.0").put({});

  EXPECT_EQ(version_in_redis(), "0.10.0");
}

TEST_F(LeaseLibrary, UsesANewerOneOfItsMajorVersion) {
  queue_of_version("0.6.0").put({});

  EXPECT_EQ(queue_of_version("0.5.0").put({.id = "a"_id}).outcome, PutOutcome::created);
  EXPECT_EQ(version_in_redis(), "0.6.0");
}

TEST_F(LeaseLibrary, OfALaterMajorVersionIsIncompatibleAndStays) {
  queue_of_version("1.0.0").put({});
  SyncQueue older = queue_of_version("0.9.9");

  EXPECT_EQ(refusal(older), ErrorCode::incompatible);
  EXPECT_EQ(version_in_redis(), "1.0.0");
}

TEST_F(LeaseLibrary, ThatIsNotDulysIsIncompatible) {
  harness_.raw({"FUNCTION", "FLUSH"});
  harness_.raw(
      {"FUNCTION", "LOAD",
       "#!lua name=duly\nredis.register_function('duly_version', function() return 1 end)"});
  SyncQueue queue = queue_of_version("0.5.0");

  EXPECT_EQ(refusal(queue), ErrorCode::incompatible);
}

TEST_F(LeaseLibrary, ReplacedUnderARunningEngineIsUsedOn) {
  SyncQueue older = queue_of_version("0.5.0");
  older.put({.id = "a"_id});

  queue_of_version("0.6.0").put({.id = "b"_id});

  EXPECT_EQ(older.claim_many().size(), 2U);
}

TEST_F(LeaseLibrary, SaysWhichVersionsMeet) {
  queue_of_version("0.6.0").put({});
  const auto engine = harness_.make_engine(options_of("0.5.0"));

  const auto info = ask(*engine, &Engine::library);

  EXPECT_EQ(info.version, "0.6.0");
  EXPECT_EQ(info.ours, "0.5.0");
  EXPECT_TRUE(info.by_functions);
}

TEST_F(LeaseLibrary, SaysThatNoneIsLoaded) {
  harness_.raw({"FUNCTION", "FLUSH"});
  const auto engine = harness_.make_engine(options_of("0.5.0"));

  EXPECT_EQ(ask(*engine, &Engine::library).version, "");
}

TEST_F(LeaseLibrary, CanBeLoadedAheadOfTheFirstCall) {
  harness_.raw({"FUNCTION", "FLUSH"});
  const auto engine = harness_.make_engine(options_of("0.5.0"));

  ask(*engine, &Engine::load_library);

  EXPECT_EQ(version_in_redis(), "0.5.0");
}

TEST(LeaseScripts, AreLoadedAgainIfTheyVanish) {
  LeaseHarness harness(EngineKind::scripts);
  SyncQueue queue(harness.engine(), "mail");
  queue.put({});
  harness.raw({"SCRIPT", "FLUSH"});

  EXPECT_EQ(queue.put({}).outcome, PutOutcome::created);
}

TEST(LeaseScripts, NeedNoRightToFunctions) {
  LeaseHarness harness(EngineKind::scripts);
  SyncQueue queue(harness.engine(), "mail");

  queue.put({});

  EXPECT_TRUE(harness.raw({"FUNCTION", "LIST"}).items.empty());
}

}  // namespace
}  // namespace duly::testing
