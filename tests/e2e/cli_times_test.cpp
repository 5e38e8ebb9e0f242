#include <csignal>
#include <filesystem>
#include <regex>
#include <stdexcept>

#include "tests/e2e/cli_fixture.h"
#include "tests/support/eventually.h"

namespace duly::testing {
namespace {

/// Where Debian's libfaketime is, whatever the machine.
std::string faketime_library() {
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib")) {
    const auto path = entry.path() / "faketime" / "libfaketimeMT.so.1";
    if (std::filesystem::exists(path)) return path;
  }
  throw std::runtime_error("libfaketimeMT.so.1: not in /usr/lib/*/faketime, expected libfaketime");
}

class CliTimes : public CliTest {
 protected:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  /// A program whose wall clock is off; the monotonic one is not.
  static Environment clock_off_by(const std::string& offset) {
    return {{"LD_PRELOAD", faketime_library()},
            {"FAKETIME", offset},
            {"DONT_FAKE_MONOTONIC", "1"},
            {"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0"},
            {"TZ", "Asia/Tokyo"}};
  }

  [[nodiscard]] ProgramEnd duly_off_by(const std::string& offset,
                                       const std::vector<std::string>& arguments) const {
    return run_program(line(arguments), {.environment = clock_off_by(offset)});
  }

  [[nodiscard]] Json job() const { return json({"show", "mail", "a"}); }
};

TEST_F(CliTimes, B101NoClockButThatOfRedisCounts) {
  ASSERT_EQ(duly_off_by("+10s", {"put", "mail", "x", "--id", "a", "--in", "500ms"}).status, 0);
  const Json put = job();
  EXPECT_EQ(put.at("due_at_ms").get<std::int64_t>() - put.at("put_at_ms").get<std::int64_t>(), 500);

  Program worker(line({"work", "mail", "--log", "json", "--exec", "test $DULY_ATTEMPT = 2"}),
                 {.environment = clock_off_by("-10s")});
  ASSERT_TRUE(eventually([&] { return worker.err().find("\"failed\"") != std::string::npos; }));
  const Json between = job();
  EXPECT_EQ(between.at("put_at_ms"), put.at("put_at_ms"));
  EXPECT_EQ(between.at("state"), "scheduled");
  ASSERT_EQ(duly({"run-now", "mail", "a"}).status, 0);
  ASSERT_TRUE(eventually([&] { return worker.err().find("\"acked\"") != std::string::npos; }));
  worker.signal(SIGTERM);

  for (const Json& one : parse_lines(worker.wait().err)) {
    if (!one.contains("late_ms")) continue;
    EXPECT_GE(one.at("late_ms").get<double>(), 0) << one;
    EXPECT_LT(one.at("late_ms").get<double>(), 5'000) << one;
  }
  const Json totals = json({"stats", "mail"}).at("totals");
  EXPECT_LT(totals.at("lateness_ms").get<std::int64_t>(), 10'000) << totals;
}

TEST_F(CliTimes, B101LatenessOfAJobThatWasDueBeforeItWasPutBeginsWithThePut) {
  put({"mail", "x", "--at", "1000"});
  Program worker(line({"work", "mail", "--log", "json", "--exec", "cat"}));
  ASSERT_TRUE(eventually([&] { return worker.err().find("\"acked\"") != std::string::npos; }));
  worker.signal(SIGTERM);

  const auto lines = parse_lines(worker.wait().err);
  EXPECT_LT(lines.at(0).at("late_ms").get<double>(), 10'000) << lines.at(0);
}

TEST_F(CliTimes, B101TimesAreShownInUtcToTheMillisecondWhereverTheClockAndTheZone) {
  const std::string due = "2100-12-24T17:00:00.250Z";
  ASSERT_EQ(duly_off_by("+1h", {"put", "mail", "x", "--id", "a", "--at", due}).status, 0);
  const std::regex put_time(R"(\nput  .*\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\)\n)");
  std::smatch here;
  std::smatch there;
  const std::string shown_here = duly({"show", "mail", "a"}).out;
  const std::string shown_there = duly_off_by("-1h", {"show", "mail", "a"}).out;

  ASSERT_TRUE(std::regex_search(shown_here, here, put_time)) << shown_here;
  ASSERT_TRUE(std::regex_search(shown_there, there, put_time)) << shown_there;
  EXPECT_EQ(here[1], there[1]);
  EXPECT_NE(shown_there.find(due), std::string::npos) << shown_there;
  EXPECT_NE(duly_off_by("-1h", {"ls", "mail"}).out.find(due), std::string::npos);
  EXPECT_NE(duly_off_by("-1h", {"stats", "mail"}).out.find(due), std::string::npos);
}

}  // namespace
}  // namespace duly::testing
