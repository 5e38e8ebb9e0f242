#include <unistd.h>

#include <filesystem>

#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class CliTerminal : public CliTest {
 protected:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  ProgramEnd show(const std::vector<std::string>& arguments,
                  Environment environment = {{"TERM", "xterm"}}) const {
    return run_on_terminal(line(arguments), "", {.environment = std::move(environment)});
  }

  /// Types an answer once the prompt is there.
  ProgramEnd show(const std::vector<std::string>& arguments, const std::string& prompt,
                  const std::string& typed) const {
    return run_on_terminal(line(arguments), prompt, {.input = typed});
  }

  void bury_one() const {
    const std::string id = put({"mail", "x"});
    const std::string token = json({"claim", "mail"}).at("token");
    ASSERT_EQ(duly({"fail", "mail", id, token, "--give-up"}).status, 0);
  }
};

TEST_F(CliTerminal, ColoursAreShownUnlessNoColorOrADumbTerminalForbidsThem) {
  put({"mail", "x"});

  EXPECT_NE(show({"ls", "mail"}).out.find("\x1b[33mready\x1b[0m"), std::string::npos);
  EXPECT_EQ(
      show({"ls", "mail"}, Environment{{"TERM", "xterm"}, {"NO_COLOR", "1"}}).out.find('\x1b'),
      std::string::npos);
  EXPECT_EQ(show({"ls", "mail"}, Environment{{"TERM", "dumb"}}).out.find('\x1b'),
            std::string::npos);
}

TEST_F(CliTerminal, PurgeOfAllAsksFirst) {
  bury_one();

  const ProgramEnd no = show({"dead", "purge", "mail", "--all"}, "[y/N] ", "n\n");
  EXPECT_NE(no.out.find("Delete all dead jobs of mail? [y/N]"), std::string::npos) << no.out;
  EXPECT_EQ(json({"stats", "mail"}).at("dead"), 1);

  const ProgramEnd yes = show({"dead", "purge", "mail", "--all"}, "[y/N] ", "y\n");
  EXPECT_NE(yes.out.find("purged 1"), std::string::npos) << yes.out;
  EXPECT_EQ(json({"stats", "mail"}).at("dead"), 0);
}

TEST_F(CliTerminal, PurgeDoesNotAskWhoIsSure) {
  bury_one();

  const ProgramEnd end = show({"dead", "purge", "mail", "--all", "--yes"});

  EXPECT_EQ(end.out, "purged 1\r\n");
}

TEST_F(CliTerminal, WatchRefreshesInPlaceUntilCtrlC) {
  put({"mail", "x"});

  const ProgramEnd end = show({"stats", "--watch", "--every", "10ms"}, "mail ", "\x03");

  EXPECT_EQ(end.status, 0);
  EXPECT_NE(end.out.find("\x1b[H\x1b[J"), std::string::npos) << end.out;
}

TEST_F(CliTerminal, SaysOnceThatThePrivateRedisIsUsed) {
  const std::string folder = ::testing::TempDir() + "duly_term_" + std::to_string(::getpid());

  const ProgramEnd end = run_on_terminal({binary(), "--data", folder, "put", "mail", "x"}, "",
                                         {.environment = {{"DULY_REDIS", ""}}});

  EXPECT_EQ(end.status, 0) << end.out;
  EXPECT_NE(end.out.find("duly: using a private Redis, unix://" + folder), std::string::npos)
      << end.out;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace duly::testing
