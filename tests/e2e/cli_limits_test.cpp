#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class CliLimits : public CliTest {};

TEST_F(CliLimits, AreShownAndSetAndWhatIsNotGivenStays) {
  const Json before = json({"limits", "mail"});
  EXPECT_EQ(before.at("dead_count"), 100'000);
  EXPECT_EQ(before.at("dead_at_limit"), "drop");
  EXPECT_EQ(before.at("length"), 0);

  json({"limits", "mail", "--length", "2", "--dead-age", "30d"});
  const Json after = json({"limits", "mail", "--dead-at-limit", "refuse", "--done-age", "1h"});

  EXPECT_EQ(after.at("length"), 2);
  EXPECT_EQ(after.at("dead_age_ms"), 30LL * 24 * 3600 * 1000);
  EXPECT_EQ(after.at("dead_at_limit"), "refuse");
  EXPECT_EQ(after.at("done_age_ms"), 3'600'000);
  EXPECT_EQ(json({"limits", "mail"}), after);
  const std::string text = duly({"limits", "mail"}).out;
  EXPECT_NE(text.find("waiting jobs    at most 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("done jobs       kept for 1h, at most 10000"), std::string::npos) << text;
}

TEST_F(CliLimits, AWrongOneIsRefusedAndNothingChanges) {
  const Json before = json({"limits", "mail"});
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--dead-count", "0"},
                                                {"--length", "-1"},
                                                {"--done-age", "soon"},
                                                {"--dead-at-limit", "explode"},
                                                {"--length", "9007199254740992"}}) {
    std::vector<std::string> all{"limits", "mail", "--dead-bytes", "1000"};
    all.insert(all.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(duly(all).status, 2) << wrong[0] << " " << wrong[1];
  }
  EXPECT_EQ(json({"limits", "mail"}), before);
}

TEST_F(CliLimits, APutIntoAFullQueueSaysWhyAndEndsAsUnavailable) {
  json({"limits", "mail", "--length", "1"});
  put({"mail", "first"});

  const ProgramEnd end = duly({"put", "mail", "second"});

  EXPECT_EQ(end.status, 3) << end.err;
  EXPECT_NE(end.err.find("queue: 1 waiting jobs, its limit"), std::string::npos) << end.err;
}

TEST_F(CliLimits, B55AStoppedQueueSaysSo) {
  json({"limits", "mail", "--dead-count", "1", "--dead-at-limit", "refuse"});
  const std::string id = put({"mail", "x"});
  const std::string token = json({"claim", "mail"}).at("token");
  EXPECT_EQ(duly({"fail", "mail", id, token, "--give-up"}).status, 0);

  EXPECT_EQ(json({"stats", "mail"}).at("is_stopped"), true);
  const std::string text = duly({"stats", "mail"}).out;
  EXPECT_NE(text.find("mail (stopped: dead letters at their limit)"), std::string::npos) << text;
}

TEST_F(CliLimits, ADoneJobIsShownWithItsResult) {
  json({"limits", "mail", "--done-age", "1h"});
  const std::string id = put({"mail", "x", "--priority", "7"});
  const std::string token = json({"claim", "mail"}).at("token");
  EXPECT_EQ(duly({"ack", "mail", id, token, "--result", "sent to 3"}).status, 0);

  const Json job = json({"show", "mail", id});
  EXPECT_EQ(job.at("state"), "done");
  EXPECT_EQ(job.at("result"), "sent to 3");
  EXPECT_EQ(job.at("priority"), 7);
  EXPECT_GE(job.at("done_at_ms"), job.at("put_at_ms"));
  EXPECT_EQ(json({"ls", "mail", "--state", "done"}).at("id"), id);
  EXPECT_NE(duly({"ls", "mail"}).out.find("sent to 3"), std::string::npos);
}

TEST_F(CliLimits, OfWhatIsDueTheHighestPriorityGoesFirst) {
  put({"mail", "plain"});
  put({"mail", "urgent", "--priority", "9"});

  EXPECT_EQ(json({"claim", "mail"}).at("payload"), "urgent");
  EXPECT_EQ(duly({"put", "mail", "x", "--priority", "10"}).status, 2);
  const ProgramEnd stream = duly({"put", "mail", "--ndjson", "-"}, "{\"priority\":10}\n");
  EXPECT_EQ(stream.status, 2);
  EXPECT_NE(stream.err.find("priority: 10, expected 0 .. 9"), std::string::npos) << stream.err;
}

}  // namespace
}  // namespace duly::testing
