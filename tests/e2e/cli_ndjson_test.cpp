#include <unistd.h>

#include <array>
#include <csignal>

#include "tests/e2e/cli_fixture.h"
#include "tests/support/eventually.h"

namespace duly::testing {
namespace {

class CliNdjson : public CliTest {};

TEST_F(CliNdjson, PutsOneJobALine) {
  const ProgramEnd end = duly({"put", "mail", "--ndjson", "-", "--json", "--type", "note"},
                              R"({"payload":"a","id":"1"}

{"payload_base64":"/wA=","id":"2","type":"raw","in":"1h","max_attempts":3}
{"id":"3","due_at_ms":4102444800000,"lease_ms":5000,"timeout_ms":6000,"backoff":{"kind":"fixed"}}
{"id":"4","at":"2100-01-01T00:00:00Z"}
{"id":"5","delay_ms":60000})");

  ASSERT_EQ(end.status, 0) << end.err;
  const auto results = parse_lines(end.out);
  ASSERT_EQ(results.size(), 5U);
  EXPECT_EQ(results[1].at("line"), 3);
  EXPECT_EQ(results[1].at("outcome"), "created");
  EXPECT_EQ(json({"show", "mail", "1"}).at("type"), "note");
  EXPECT_EQ(json({"show", "mail", "2"}).at("payload_base64"), "/wA=");
  EXPECT_EQ(json({"show", "mail", "2"}).at("type"), "raw");
  EXPECT_EQ(json({"show", "mail", "3"}).at("due_at_ms"), 4'102'444'800'000);
  EXPECT_EQ(json({"show", "mail", "3"}).at("backoff").at("kind"), "fixed");
  EXPECT_EQ(json({"show", "mail", "4"}).at("due_at_ms"), 4'102'444'800'000);
  EXPECT_EQ(json({"show", "mail", "5"}).at("state"), "scheduled");
}

TEST_F(CliNdjson, ReportsABadLineByItsNumberNeverItsPayloadAndGoesOn) {
  const ProgramEnd end = duly({"put", "mail", "--ndjson", "-"},
                              "{\"payload\":\"fine\"}\n"
                              "{\"payload\":\"SECRET\n"
                              "[\"SECRET\"]\n"
                              "{\"payload\":{\"a\":\"SECRET\"}}\n"
                              "{\"paylod\":\"SECRET\"}\n"
                              "{\"payload\":\"SECRET\",\"delay_ms\":-1}\n"
                              "{\"payload\":\"SECRET\",\"delay_ms\":1e3}\n"
                              "{\"payload\":\"SECRET\",\"delay_ms\":1e999}\n"
                              "{\"payload\":\"SECRET\",\"in\":\"5\"}\n"
                              "{\"payload\":\"SECRET\",\"in\":\"5s\",\"at\":\"0\"}\n"
                              "{\"payload\":\"SECRET\",\"max_attempts\":0}\n"
                              "{\"payload\":\"SECRET\",\"id\":\"a b\"}\n"
                              "{\"payload\":\"\xff SECRET\"}\n"
                              "{\"payload\":\"fine\"}\n");

  EXPECT_EQ(end.status, 2);
  EXPECT_EQ(end.err.find("SECRET"), std::string::npos) << end.err;
  for (int line = 2; line <= 13; ++line) {
    EXPECT_NE(end.err.find("line " + std::to_string(line) + ": "), std::string::npos) << line;
  }
  EXPECT_NE(end.err.find("put 2 jobs"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("12 lines refused; what was put stays"), std::string::npos) << end.err;
  EXPECT_EQ(json({"stats", "mail"}).at("ready"), 2);
}

TEST_F(CliNdjson, GivesAResultForEachBadLineInOrder) {
  const ProgramEnd end = duly({"put", "mail", "--ndjson", "-", "--json"},
                              "{\"id\":\"a\"}\nno\n{\"id\":\"b\"}\n{\"id\":\"a\"}\n");

  EXPECT_EQ(end.status, 2);
  const auto results = parse_lines(end.out);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[1].at("line"), 2);
  EXPECT_EQ(results[1].at("outcome"), "refused");
  EXPECT_TRUE(results[1].at("id").is_null());
  EXPECT_EQ(results[1].at("error").at("code"), "invalid_argument");
  EXPECT_EQ(results[2].at("id"), "b");
  EXPECT_EQ(results[3].at("outcome"), "exists");
}

TEST_F(CliNdjson, RefusesALineTooLongAndTakesTheNext) {
  const ProgramEnd end =
      duly({"put", "mail", "--ndjson", "-"},
           R"({"payload":")" + std::string(8UL * 1024 * 1024, 'x') + "\"}\n{\"id\":\"after\"}\n");

  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("line 1: "), std::string::npos) << end.err;
  EXPECT_EQ(duly({"show", "mail", "after"}).status, 0);
}

TEST_F(CliNdjson, DoesNotKeepALineWaitingForTheNext) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string early = "{\"id\":\"early\"}\n";
  ASSERT_EQ(::write(ends[1], early.data(), early.size()), static_cast<ssize_t>(early.size()));

  Program slow(line({"put", "mail", "--ndjson", "/dev/fd/" + std::to_string(ends[0])}));

  EXPECT_TRUE(eventually([&] { return duly({"show", "mail", "early"}).status == 0; }));
  EXPECT_EQ(slow.out(), "");
  for (const int end : ends) ::close(end);
}

TEST_F(CliNdjson, SaysWhatIsUnknownWhenRedisFallsSilentAndEndsWith4) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string one = "{}\n";
  Program stream(line(
      {"--timeout", "500ms", "put", "mail", "--ndjson", "/dev/fd/" + std::to_string(ends[0])}));
  ASSERT_EQ(::write(ends[1], one.data(), one.size()), static_cast<ssize_t>(one.size()));
  ASSERT_TRUE(eventually([&] { return json({"stats", "mail"}).at("ready") == 1; }));

  redis_.kill(SIGSTOP);
  ASSERT_EQ(::write(ends[1], one.data(), one.size()), static_cast<ssize_t>(one.size()));
  const ProgramEnd end = stream.wait();
  redis_.kill(SIGCONT);
  for (const int number : ends) ::close(number);

  EXPECT_EQ(end.status, 4);
  EXPECT_NE(end.err.find("line 2: "), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("put 1 jobs"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("of 1 the outcome is unknown"), std::string::npos) << end.err;
}

TEST_F(CliNdjson, StopsWhenRedisIsAwayAndSaysAtWhichLine) {
  const ProgramEnd end = run_program({binary(), "--redis", "redis://127.0.0.1:1", "--timeout",
                                      "300ms", "put", "mail", "--ndjson", "-"},
                                     {.input = "{}\n{}\n"});

  EXPECT_EQ(end.status, 3);
  EXPECT_NE(end.err.find("line 1: "), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("2 not put"), std::string::npos) << end.err;
}

TEST_F(CliNdjson, RefusesAPayloadOrAnIdBesideIt) {
  EXPECT_EQ(duly({"put", "mail", "x", "--ndjson", "-"}).status, 2);
  EXPECT_EQ(duly({"put", "mail", "--id", "x", "--ndjson", "-"}).status, 2);
  EXPECT_EQ(duly({"put", "mail", "--ndjson", "/does/not/exist"}).status, 2);
}

}  // namespace
}  // namespace duly::testing
