#include <algorithm>
#include <csignal>

#include "tests/e2e/cli_fixture.h"
#include "tests/support/eventually.h"

namespace duly::testing {
namespace {

class CliLook : public CliTest {
 protected:
  /// A job that is dead with this error.
  std::string bury(const std::string& error) const {
    const std::string id = put({"mail", "x", "--max-attempts", "1"});
    const Json job = json({"claim", "mail"});
    EXPECT_EQ(
        duly({"fail", "mail", id, job.at("token").get<std::string>(), "--error", error}).status, 0);
    return id;
  }
};

TEST_F(CliLook, ShowTellsEverythingAboutAJob) {
  put({"mail", "hello\nworld", "--id", "a", "--type", "note", "--in", "1h"});

  const std::string text = duly({"show", "mail", "a"}).out;

  for (const std::string part :
       {"id            a\n", "state         scheduled\n", "type          note\n",
        "max attempts  20\n", "timeout       30m\n",
        "backoff       exponential 10s .. 6h, factor 2.0, jitter 0.2\n",
        "payload       hello\\nworld\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
}

TEST_F(CliLook, ShowOfAJobThatIsNotThereEndsWith7) {
  const ProgramEnd end = duly({"show", "mail", "a", "--json"});

  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(end.out, "{\"id\":\"a\",\"outcome\":\"not_found\"}\n");
}

TEST_F(CliLook, ShowPreviewsOtherBytesInHex) {
  const std::string id = json({"put", "mail", "-"}, std::string("\xff\x00\x01", 3)).at("id");

  EXPECT_NE(duly({"show", "mail", id}).out.find("payload       hex ff 00 01\n"), std::string::npos);
}

TEST_F(CliLook, LsListsByState) {
  put({"mail", "ready job"});
  put({"mail", "later job", "--in", "1h"});

  const std::string text = duly({"ls", "mail"}).out;
  EXPECT_NE(text.find("ready job"), std::string::npos) << text;
  EXPECT_NE(text.find("later job"), std::string::npos) << text;
  EXPECT_EQ(json({"ls", "mail", "--state", "scheduled"}).at("payload"), "later job");
  EXPECT_TRUE(json_lines({"ls", "mail", "--state", "dead"}).empty());
  EXPECT_EQ(duly({"ls", "mail", "--state", "finished"}).status, 2);
}

TEST_F(CliLook, LsShowsSoManyOrAllAcrossPages) {
  std::string lines;
  for (int i = 0; i < 600; ++i) lines += "{\"in\":\"1h\"}\n";
  ASSERT_EQ(duly({"put", "mail", "--ndjson", "-"}, lines).status, 0);

  const ProgramEnd few = duly({"ls", "mail", "--most", "300"});
  EXPECT_EQ(std::count(few.out.begin(), few.out.end(), '\n'), 301);
  EXPECT_NE(few.err.find("there are more"), std::string::npos);
  EXPECT_EQ(json_lines({"ls", "mail"}).size(), 100U);
  const ProgramEnd all = duly({"ls", "mail", "--all"});
  EXPECT_EQ(std::count(all.out.begin(), all.out.end(), '\n'), 601);
  EXPECT_EQ(all.err, "");
}

TEST_F(CliLook, QueuesNamesThemSorted) {
  put({"sms", "x"});
  put({"mail", "x"});

  EXPECT_EQ(duly({"queues"}).out, "mail\nsms\n");
  EXPECT_EQ(duly({"queues", "--json"}).out, "{\"queue\":\"mail\"}\n{\"queue\":\"sms\"}\n");
}

TEST_F(CliLook, StatsCountsInThisForm) {
  put({"mail", "x", "--at", "1000"});
  put({"mail", "x", "--in", "1h"});

  const ProgramEnd end = duly({"stats", "mail", "--json"});

  EXPECT_TRUE(end.out.starts_with(
      R"({"queue":"mail","engine":"lease","scheduled":1,"ready":1,"active":0,"dead":0,)"
      R"("done":0,"oldest_due_ms":)"))
      << end.out;
  EXPECT_NE(
      end.out.find(
          R"("is_paused":false,"is_stopped":false,"dead_percent":0,"totals":{"put":2,"claimed":0,"acked":0,)"),
      std::string::npos)
      << end.out;
  EXPECT_TRUE(json({"stats", "empty"}).at("oldest_due_ms").is_null());
}

TEST_F(CliLook, StatsShowsAllQueuesAndWhichArePaused) {
  put({"mail", "x"});
  put({"sms", "x"});
  ASSERT_EQ(duly({"pause", "sms"}).out, "paused sms\n");

  const std::string text = duly({"stats"}).out;

  EXPECT_NE(text.find("mail "), std::string::npos) << text;
  EXPECT_NE(text.find("sms (paused)"), std::string::npos) << text;
}

TEST_F(CliLook, StatsWatchesUntilCtrlC) {
  put({"mail", "x"});
  Program watch(line({"stats", "--watch", "--every", "20ms", "--json"}));
  ASSERT_TRUE(eventually([&] { return parse_lines(watch.out()).size() >= 3; }));

  watch.signal(SIGINT);

  EXPECT_EQ(watch.wait().status, 0);
  EXPECT_EQ(duly({"stats", "--every", "1s"}).status, 2);
}

TEST_F(CliLook, DeadJobsAreListedReplayedAndPurged) {
  const std::string first = bury("mailbox full");
  const std::string second = bury("no such\x1b user");

  const std::string text = duly({"dead", "ls", "mail"}).out;
  EXPECT_NE(text.find("failed: mailbox full"), std::string::npos) << text;
  EXPECT_NE(text.find("failed: no such\\x1B user"), std::string::npos) << text;
  EXPECT_EQ(json_lines({"dead", "ls", "mail"}).size(), 2U);

  EXPECT_EQ(json({"dead", "replay", "mail", first}),
            Json::parse(R"({"id":")" + first + R"(","outcome":"done"})"));
  EXPECT_EQ(json({"show", "mail", first}).at("state"), "ready");
  const ProgramEnd mixed = duly({"dead", "purge", "mail", second, first, "none", "--json"});
  EXPECT_EQ(mixed.status, 7);
  const auto outcomes = parse_lines(mixed.out);
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes[0].at("outcome"), "done");
  EXPECT_EQ(outcomes[1].at("outcome"), "wrong_state");
  EXPECT_EQ(outcomes[2].at("outcome"), "not_found");
}

TEST_F(CliLook, AllDeadJobsAreReplayedOrPurgedAtOnce) {
  bury("a");
  EXPECT_EQ(json({"dead", "replay", "mail", "--all"}).at("replayed"), 1);
  EXPECT_EQ(json({"stats", "mail"}).at("ready"), 1);
  const Json job = json({"claim", "mail"});
  ASSERT_EQ(duly({"fail", "mail", job.at("id"), job.at("token"), "--give-up"}).status, 0);

  EXPECT_EQ(duly({"dead", "purge", "mail", "--all"}).out, "purged 1\n");

  EXPECT_EQ(json({"stats", "mail"}).at("dead"), 0);
  EXPECT_EQ(duly({"dead", "purge", "mail"}).status, 2);
  EXPECT_EQ(duly({"dead", "purge", "mail", "a", "--all"}).status, 2);
}

TEST_F(CliLook, LibraryShowsAndLoadsItself) {
  EXPECT_EQ(duly({"library", "load"}).status, 0);

  const Json library = json({"library", "show"});

  EXPECT_EQ(library.at("version"), library.at("ours"));
}

}  // namespace
}  // namespace duly::testing
