#include <fstream>

#include "src/core/bytes.h"
#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class CliPut : public CliTest {};

TEST_F(CliPut, AnswersIdOutcomeAndDueTimeInThisOrder) {
  const ProgramEnd end = duly({"put", "mail", "hello", "--id", "a", "--json"});

  EXPECT_EQ(end.status, 0);
  EXPECT_TRUE(end.out.starts_with(R"({"id":"a","outcome":"created","due_at_ms":)")) << end.out;
}

TEST_F(CliPut, SaysInWordsWhenTheJobIsDue) {
  const ProgramEnd end = duly({"put", "mail", "hello", "--id", "a", "--in", "2h"});

  EXPECT_EQ(end.status, 0);
  EXPECT_TRUE(end.out.starts_with("created a, due in 1h 59m (20") ||
              end.out.starts_with("created a, due in 2h (20"))
      << end.out;
}

TEST_F(CliPut, OfAnIdThatExistsChangesNothingAndEndsWith7) {
  put({"mail", "first", "--id", "a"});

  const ProgramEnd end = duly({"put", "mail", "second", "--id", "a", "--json"});

  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(Json::parse(end.out).at("outcome"), "exists");
  EXPECT_EQ(json({"show", "mail", "a"}).at("payload"), "first");
}

TEST_F(CliPut, KeepsEveryOption) {
  const std::string id = put({"mail",
                              "x",
                              "--type",
                              "welcome",
                              "--max-attempts",
                              "7",
                              "--lease",
                              "45s",
                              "--attempt-timeout",
                              "90s",
                              "--backoff",
                              "fixed",
                              "--backoff-base",
                              "5s",
                              "--backoff-cap",
                              "1m",
                              "--backoff-factor",
                              "3.5",
                              "--jitter",
                              "0.25"});

  const Json job = json({"show", "mail", id});
  EXPECT_EQ(job.at("type"), "welcome");
  EXPECT_EQ(job.at("max_attempts"), 7);
  EXPECT_EQ(job.at("lease_ms"), 45'000);
  EXPECT_EQ(job.at("timeout_ms"), 90'000);
  EXPECT_EQ(job.at("backoff"), Json::parse(R"({"kind":"fixed","base_ms":5000,"cap_ms":60000,)"
                                           R"("factor":3.5,"jitter":0.25})"));
}

TEST_F(CliPut, B16KeepsDelaysBeyond32BitsExactly) {
  for (const std::string delay :
       {"2147483647", "2147483648", "4294967295", "4294967296", "31536000000", "3153600000000"}) {
    const std::string id = put({"far", "x", "--in", delay + "ms"});

    const Json job = json({"show", "far", id});
    EXPECT_EQ(job.at("state"), "scheduled");
    EXPECT_EQ(job.at("due_at_ms").get<std::int64_t>() - job.at("put_at_ms").get<std::int64_t>(),
              std::stoll(delay));
  }
  EXPECT_TRUE(json_lines({"claim", "far", "--most", "10"}).empty());
}

TEST_F(CliPut, B17RefusesWhatIsNoDelay) {
  for (const std::string delay : {"-1", "-1000000000000000", "-9223372036854775808", "abc", "",
                                  "1e3", "NaN", " 5", "5s5", "5"}) {
    const ProgramEnd end = duly({"put", "mail", "x", "--in", delay, "--json"});

    EXPECT_EQ(end.status, 2) << delay;
    EXPECT_EQ(code_of(end), "invalid_argument") << delay;
  }
  EXPECT_TRUE(json_lines({"queues"}).empty());
}

TEST_F(CliPut, B17TakesTheStartOfTimeAsAtOnceAndRefusesWhatIsBefore) {
  const std::string id = put({"mail", "x", "--at", "0"});

  EXPECT_EQ(json({"show", "mail", id}).at("state"), "ready");
  EXPECT_EQ(duly({"put", "mail", "x", "--at", "-1"}).status, 2);
  EXPECT_EQ(duly({"put", "mail", "x", "--at", "tomorrow"}).status, 2);
}

TEST_F(CliPut, TakesATimeInAnyZone) {
  const Json put = json({"put", "mail", "x", "--at", "2100-12-24T18:00:00.250+01:00"});

  EXPECT_EQ(put.at("due_at_ms"), 4'133'350'800'250);
  EXPECT_EQ(duly({"put", "mail", "x", "--in", "1s", "--at", "0"}).status, 2);
}

TEST_F(CliPut, TakesThePayloadLiterallyWhereAsked) {
  EXPECT_EQ(json({"show", "q", put({"q", "--payload", "-"})}).at("payload"), "-");
  EXPECT_EQ(json({"show", "q", put({"q", "--payload", "@x"})}).at("payload"), "@x");
  EXPECT_EQ(json({"show", "q", put({"q", "--payload", "--json"})}).at("payload"), "--json");
  EXPECT_EQ(json({"show", "q", put({"q", "[1,2]"})}).at("payload"), "[1,2]");
  EXPECT_EQ(json({"show", "q", put({"q", "ls"})}).at("payload"), "ls");
  EXPECT_EQ(json({"show", "q", put({"q", ""})}).at("payload"), "");
  EXPECT_EQ(duly({"put", "q", "a", "--payload", "b"}).status, 2);
}

TEST_F(CliPut, B22RoundTripsEveryByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& payload :
       {all, std::string(), std::string(1'000'000, '\x80'), std::string("\xED\xA0\x80")}) {
    const std::string id = json({"put", "bytes", "-"}, payload).at("id");

    const Json job = json({"claim", "bytes"});
    EXPECT_EQ(job.at("id"), id);
    const std::string back = job.contains("payload")
                                 ? job.at("payload").get<std::string>()
                                 : core::base64_decode(job.at("payload_base64").get<std::string>())
                                       .value_or("not base64");
    EXPECT_TRUE(back == payload) << payload.size();
    EXPECT_EQ(duly({"show", "bytes", id}).status, 0);
    EXPECT_EQ(duly({"ls", "bytes"}).status, 0);
    const std::string token = job.at("token");
    EXPECT_EQ(duly({"ack", "bytes", id, token}).status, 0);
  }
}

TEST_F(CliPut, ReadsThePayloadFromAFile) {
  const std::string path = ::testing::TempDir() + "duly_payload_" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << std::string("a\0b\n", 4);

  const std::string id = put({"mail", "@" + path});

  EXPECT_EQ(json({"show", "mail", id}).at("payload").get<std::string>(), std::string("a\0b\n", 4));
  ::unlink(path.c_str());
  const ProgramEnd missing = duly({"put", "mail", "@" + path, "--json"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("No such file"), std::string::npos);
}

TEST_F(CliPut, B98TakesAPayloadOfTheLimitAndNoByteMore) {
  const std::size_t limit = 1024 * 1024;
  EXPECT_EQ(duly({"put", "mail", "-"}, std::string(limit, 'x')).status, 0);

  const ProgramEnd end = duly({"put", "mail", "-", "--json"}, std::string(limit + 1, 'x'));

  EXPECT_EQ(end.status, 2);
  EXPECT_EQ(code_of(end), "invalid_argument");
  EXPECT_NE(end.err.find("expected 0 .. 1048576"), std::string::npos) << end.err;
}

TEST_F(CliPut, B98RefusesInputWithoutEndAtOnce) {
  const ProgramEnd end =
      run_program({"sh", "-c", "yes | \"$0\" --redis \"$1\" put mail -", binary(), redis_.url()});

  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("payload: more than 1048576 bytes"), std::string::npos) << end.err;
}

TEST_F(CliPut, B23RefusesQueueNamesBeyondTheRuleAndSaysIt) {
  for (const std::string& name :
       {std::string("a b"), std::string("a/b"), std::string("a+b"), std::string("a%2Fb"),
        std::string("a#b"), std::string("a?b"), std::string("\"q\""), std::string("naïve"),
        std::string("😀"), std::string(129, 'a'), std::string()}) {
    const ProgramEnd end = duly({"put", name, "x"});

    EXPECT_EQ(end.status, 2) << name;
    EXPECT_NE(end.err.find("A-Z a-z 0-9 . _ - :"), std::string::npos) << end.err;
  }
}

TEST_F(CliPut, B23AllowedNamesWorkInEveryCommandAndLeaveTheirNeighboursAlone) {
  for (const std::string& name :
       {std::string(".."), std::string("-x"), std::string("a:b"), std::string(128, 'a')}) {
    SCOPED_TRACE(name);
    put({"--id", "one", "--", name, "x"});
    put({"neighbour", "x"});

    EXPECT_EQ(json_lines({"ls", "--", name}).size(), 1U);
    EXPECT_EQ(json({"show", "--", name, "one"}).at("queue"), name);
    EXPECT_EQ(duly({"pause", "--", name}).status, 0);
    EXPECT_TRUE(json({"stats", "--", name}).at("is_paused").get<bool>());
    EXPECT_FALSE(json({"stats", "neighbour"}).at("is_paused").get<bool>());
    EXPECT_EQ(duly({"dead", "purge", "--all", "--", name}).status, 0);
    EXPECT_EQ(duly({"cancel", "--", name, "one"}).status, 0);
  }
  EXPECT_EQ(json({"stats", "neighbour"}).at("ready"), 4);
}

}  // namespace
}  // namespace duly::testing
