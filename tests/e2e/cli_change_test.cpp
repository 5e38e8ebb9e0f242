#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class CliChange : public CliTest {};

TEST_F(CliChange, CancelDropsJobsAndTellsOfEach) {
  put({"mail", "x", "--id", "a"});
  put({"mail", "x", "--id", "b"});

  const ProgramEnd end = duly({"cancel", "mail", "a", "none", "b", "--json"});

  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(end.out,
            "{\"id\":\"a\",\"outcome\":\"done\"}\n{\"id\":\"none\",\"outcome\":\"not_found\"}\n"
            "{\"id\":\"b\",\"outcome\":\"done\"}\n");
  EXPECT_EQ(json({"stats", "mail"}).at("ready"), 0);
}

TEST_F(CliChange, CancelOfAnActiveJobIsAskedFor) {
  put({"mail", "x", "--id", "a"});
  ASSERT_EQ(duly({"claim", "mail"}).status, 0);

  const ProgramEnd end = duly({"cancel", "mail", "a"});

  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out, "asked a\n");
  EXPECT_EQ(json({"show", "mail", "a"}).at("state"), "active");
}

TEST_F(CliChange, AnIdInBracketsIsOneId) {
  put({"mail", "x", "--id", "a"});
  put({"mail", "x", "--id", "[a]"});

  EXPECT_EQ(duly({"cancel", "mail", "[a]"}).out, "done [a]\n");

  EXPECT_EQ(duly({"show", "mail", "a"}).status, 0);
}

TEST_F(CliChange, RescheduleMovesTheDueTime) {
  put({"mail", "x", "--id", "a"});

  EXPECT_EQ(duly({"reschedule", "mail", "a", "--at", "2100-01-01T00:00:00Z"}).status, 0);
  EXPECT_EQ(json({"show", "mail", "a"}).at("due_at_ms"), 4'102'444'800'000);
  EXPECT_EQ(duly({"reschedule", "mail", "a", "--in", "1h"}).out, "done a\n");
  EXPECT_EQ(json({"show", "mail", "a"}).at("state"), "scheduled");
  EXPECT_EQ(duly({"reschedule", "mail", "none", "--in", "1h"}).status, 7);
  EXPECT_EQ(duly({"reschedule", "mail", "a"}).status, 2);
  EXPECT_EQ(duly({"reschedule", "mail", "a", "--in", "1s", "--at", "0"}).status, 2);
}

TEST_F(CliChange, RunNowMakesJobsDue) {
  put({"mail", "x", "--id", "a", "--in", "1h"});
  put({"mail", "x", "--id", "b", "--in", "1h"});

  EXPECT_EQ(duly({"run-now", "mail", "a", "b"}).out, "done a\ndone b\n");

  EXPECT_EQ(json({"stats", "mail"}).at("ready"), 2);
}

TEST_F(CliChange, EditReplacesThePayload) {
  put({"mail", "x", "--id", "a"});

  EXPECT_EQ(duly({"edit", "mail", "a", "-"}, "from stdin").status, 0);
  EXPECT_EQ(json({"show", "mail", "a"}).at("payload"), "from stdin");
  EXPECT_EQ(duly({"edit", "mail", "a", "--payload", "@literal"}).status, 0);
  EXPECT_EQ(json({"show", "mail", "a"}).at("payload"), "@literal");
  EXPECT_EQ(duly({"edit", "mail", "none", "x"}).status, 7);
  EXPECT_EQ(duly({"edit", "mail", "a"}).status, 2);
}

TEST_F(CliChange, PauseStopsClaimsAndResumeLetsThemGoOn) {
  put({"mail", "x"});

  EXPECT_EQ(json({"pause", "mail"}), Json::parse(R"({"queue":"mail","outcome":"paused"})"));
  EXPECT_TRUE(json_lines({"claim", "mail"}).empty());
  EXPECT_EQ(json({"resume", "mail"}), Json::parse(R"({"queue":"mail","outcome":"resumed"})"));
  EXPECT_EQ(json_lines({"claim", "mail"}).size(), 1U);
}

}  // namespace
}  // namespace duly::testing
