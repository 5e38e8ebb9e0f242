#include <csignal>
#include <regex>

#include "tests/e2e/cli_fixture.h"
#include "tests/support/eventually.h"

namespace duly::testing {
namespace {

class CliLog : public CliTest {
 protected:
  /// Works on what is due until the text is on stderr; answers the worker's end.
  ProgramEnd work_until(const std::string& text, const std::string& command,
                        std::vector<std::string> more = {}) const {
    auto arguments = line({"work", "mail", "--exec", command});
    arguments.insert(arguments.end(), more.begin(), more.end());
    Program worker(arguments);
    EXPECT_TRUE(eventually([&] { return worker.err().find(text) != std::string::npos; }))
        << worker.err();
    worker.signal(SIGTERM);
    return worker.wait();
  }

  static Json event(const std::vector<Json>& lines, const std::string& name) {
    for (const Json& one : lines) {
      if (one.at("event") == name) return one;
    }
    ADD_FAILURE() << "no event " << name;
    return Json::object();
  }
};

TEST_F(CliLog, JsonIsOneObjectALineWithTimeLevelEventAndFields) {
  put({"mail", "secret payload", "--id", "a", "--type", "note"});

  const ProgramEnd end = work_until("acked", "cat >/dev/null", {"--log", "json"});

  const auto lines = parse_lines(end.err);
  const Json acked = event(lines, "acked");
  EXPECT_EQ(acked.at("level"), "info");
  EXPECT_TRUE(std::regex_match(acked.at("time").get<std::string>(),
                               std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
  EXPECT_EQ(acked.at("id"), "a");
  EXPECT_EQ(acked.at("queue"), "mail");
  EXPECT_EQ(acked.at("type"), "note");
  EXPECT_EQ(acked.at("attempt"), 1);
  EXPECT_GE(acked.at("late_ms").get<double>(), 0);
  EXPECT_GT(acked.at("run_ms").get<double>(), 0);
  const Json stopped = event(lines, "stopped");
  EXPECT_EQ(stopped.at("acked"), 1);
  EXPECT_EQ(stopped.at("failed"), 0);
  EXPECT_GE(stopped.at("late_p99_ms").get<double>(), stopped.at("late_p50_ms").get<double>());
  EXPECT_EQ(end.err.find("secret payload"), std::string::npos);
}

TEST_F(CliLog, JsonStaysValidWhateverBytesAnErrorHolds) {
  put({"mail", "x"});

  const ProgramEnd end =
      work_until("failed", R"(printf 'a"\\\001\377\n%%v{}' >&2; exit 1)", {"--log=json"});

  const Json failed = event(parse_lines(end.err), "failed");
  EXPECT_EQ(failed.at("level"), "warning");
  EXPECT_TRUE(failed.at("error").get<std::string>().starts_with("exit 1: a\"\\\x01"))
      << failed.dump();
}

TEST_F(CliLog, ErrorsAndNoticesAreLogLinesToo) {
  const ProgramEnd none = duly({"claim", "mail", "--log", "json"});
  EXPECT_EQ(event(parse_lines(none.err), "notice").at("message"), "no job of mail is due");

  const ProgramEnd wrong = duly({"put", "--log", "json"});
  EXPECT_EQ(wrong.status, 2);
  const Json error = event(parse_lines(wrong.err), "error");
  EXPECT_EQ(error.at("level"), "error");
  EXPECT_EQ(error.at("code"), "invalid_argument");
}

TEST_F(CliLog, AFormThatThereIsNotIsRefused) {
  const ProgramEnd end = duly({"queues", "--log", "xml"});

  EXPECT_EQ(end.status, 2);
  EXPECT_EQ(end.err, "duly: log: \"xml\", expected text or json\n");
}

TEST_F(CliLog, WorkEndsWithASummary) {
  put({"mail", "x"});
  put({"mail", "x", "--max-attempts", "1"});

  const ProgramEnd end = work_until("acked", "test $DULY_MAX_ATTEMPTS = 20");

  EXPECT_TRUE(std::regex_search(
      end.err,
      std::regex(
          "stopped: 1 acked, 1 failed, 1 dead, 0 released, 0 cancelled, 0 leases lost; late p50 "
          "[0-9.]+ ms, p99 [0-9.]+ ms; in [0-9.]+ s\n$")))
      << end.err;
}

TEST_F(CliLog, WorkTellsOnATerminalHowItGoes) {
  put({"mail", "x"});

  // Ctrl-C is typed once the line has come.
  const ProgramEnd end =
      run_on_terminal(line({"work", "mail", "--exec", "cat"}), "working: 1 acked, 0 failed",
                      {.input = "\x03", .environment = {{"TERM", "dumb"}}});

  EXPECT_EQ(end.status, 0) << end.out;
  EXPECT_NE(
      end.out.find(
          "working: 1 acked, 0 failed, 0 dead, 0 released, 0 cancelled, 0 leases lost, 0 running"),
      std::string::npos)
      << end.out;
}

TEST_F(CliLog, QuietLogsNothing) {
  put({"mail", "x"});
  Program worker(line({"work", "mail", "--exec", "cat", "--quiet"}));
  ASSERT_TRUE(eventually([&] { return worker.out() == "x"; }));
  worker.signal(SIGTERM);

  EXPECT_EQ(worker.wait().err, "");
}

}  // namespace
}  // namespace duly::testing
