#include <unistd.h>

#include <filesystem>

#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class CliUsage : public CliTest {};

TEST_F(CliUsage, HelpTeachesEveryCommand) {
  const ProgramEnd top = run_program({binary(), "--help"});
  EXPECT_EQ(top.status, 0);
  EXPECT_NE(top.out.find("Exit status:"), std::string::npos);
  for (const std::string command :
       {"put",   "claim",  "ack",        "fail",   "release", "extend",     "work",
        "show",  "ls",     "queues",     "stats",  "cancel",  "reschedule", "run-now",
        "edit",  "dead",   "pause",      "resume", "recover", "library",    "version",
        "bench", "doctor", "completion", "man"}) {
    EXPECT_NE(top.out.find("\n  " + command + " "), std::string::npos) << command;
    const ProgramEnd end = run_program({binary(), command, "--help"});
    EXPECT_EQ(end.status, 0);
    EXPECT_NE(end.out.find("Examples:\n  duly " + command), std::string::npos) << command;
  }
}

TEST_F(CliUsage, AnUnknownCommandSuggestsTheNearest) {
  const ProgramEnd end = run_program({binary(), "pt", "mail"});
  EXPECT_EQ(end.status, 2);
  EXPECT_EQ(end.err, "duly: unknown command \"pt\"; did you mean \"put\"?\nSee `duly --help`.\n");

  const ProgramEnd family = run_program({binary(), "dead", "repaly", "mail"});
  EXPECT_EQ(family.status, 2);
  EXPECT_EQ(
      family.err,
      "duly: unknown command \"repaly\"; did you mean \"replay\"?\nSee `duly dead --help`.\n");
}

TEST_F(CliUsage, AWrongCallEndsWith2AndAHint) {
  for (const std::vector<std::string>& call : {std::vector<std::string>{},
                                               {"put"},
                                               {"put", "mail", "a", "b"},
                                               {"put", "mail", "--nix"},
                                               {"ack", "mail", "a"},
                                               {"work", "mail"},
                                               {"dead"}}) {
    const ProgramEnd end = duly(call);
    EXPECT_EQ(end.status, 2);
    EXPECT_NE(end.err.find("--help`."), std::string::npos) << end.err;
  }
}

TEST_F(CliUsage, ErrorsAreJsonWhereAsked) {
  const ProgramEnd usage = duly({"put", "--json"});
  EXPECT_EQ(usage.status, 2);
  EXPECT_EQ(usage.err,
            "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"QUEUE is required\"}}\n");
}

TEST_F(CliUsage, RedisAwayEndsWith3WithinTheTimeout) {
  const auto begun_at = std::chrono::steady_clock::now();

  const ProgramEnd end = run_program({binary(), "--redis", "redis://127.0.0.1:1", "--timeout",
                                      "200ms", "put", "mail", "x", "--json"});

  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(code_of(end), "unavailable");
  EXPECT_LT(std::chrono::steady_clock::now() - begun_at, std::chrono::seconds{3});
}

TEST_F(CliUsage, AUrlIsTakenFromTheEnvironmentAndNeverShownWithItsPassword) {
  const ProgramEnd good =
      run_program({binary(), "put", "mail", "x"}, {.environment = {{"DULY_REDIS", redis_.url()}}});
  EXPECT_EQ(good.status, 0) << good.err;

  const ProgramEnd bad =
      run_program({binary(), "put", "mail", "x", "--timeout", "200ms"},
                  {.environment = {{"DULY_REDIS", "redis://:hunter2@127.0.0.1:1"}}});
  EXPECT_EQ(bad.status, 3);
  EXPECT_EQ(bad.err.find("hunter2"), std::string::npos) << bad.err;
  EXPECT_EQ(duly({"--redis", "nonsense://x", "queues"}).status, 2);
}

TEST_F(CliUsage, WithoutAUrlAPrivateRedisIsUsed) {
  const std::string folder = ::testing::TempDir() + "duly_cli_" + std::to_string(::getpid());

  const ProgramEnd put = run_program({binary(), "--data", folder, "put", "mail", "x", "--id", "a"},
                                     {.environment = {{"DULY_REDIS", ""}}});
  const ProgramEnd show = run_program({binary(), "--data", folder, "show", "mail", "a"},
                                      {.environment = {{"DULY_REDIS", ""}}});

  EXPECT_EQ(put.status, 0) << put.err;
  EXPECT_EQ(put.err, "");
  EXPECT_EQ(show.status, 0) << show.err;
  std::filesystem::remove_all(folder);
}

TEST_F(CliUsage, AReaderThatGoesAwayEndsItQuietly) {
  std::string lines;
  for (int i = 0; i < 5000; ++i) lines += "{}\n";
  ASSERT_EQ(duly({"put", "mail", "--ndjson", "-", "--quiet"}, lines).status, 0);

  const ProgramEnd end = run_program(
      {"sh", "-c", "\"$0\" --redis \"$1\" ls mail --all | head -n 1", binary(), redis_.url()});

  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.err, "");
}

TEST_F(CliUsage, VersionNeedsNoRedis) {
  EXPECT_EQ(run_program({binary(), "version"}).out, "duly 0.1.0\n");
  EXPECT_EQ(run_program({binary(), "version", "--json"}).out, "{\"version\":\"0.1.0\"}\n");
}

TEST_F(CliUsage, NothingIsColouredWhereItIsNoTerminal) {
  put({"mail", "x"});

  EXPECT_EQ(duly({"stats"}).out.find('\x1b'), std::string::npos);
  EXPECT_EQ(duly({"ls", "mail"}).out.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace duly::testing
