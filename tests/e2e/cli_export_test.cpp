#include <random>

#include "duly/duly.h"
#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class CliExport : public CliTest {
 protected:
  /// Of the second server.
  [[nodiscard]] ProgramEnd there(std::vector<std::string> arguments,
                                 const std::string& input = {}) const {
    arguments.insert(arguments.begin(), {binary(), "--redis", there_.url()});
    return run_program(arguments, {.input = input});
  }

  RedisServer there_;
};

std::string random_payload(std::mt19937& random, int number) {
  if (number == 0) return {};
  std::string bytes(number == 1 ? Limits::payload : random() % 300, '\0');
  const bool is_text = number % 3 == 0;
  for (char& byte : bytes) byte = static_cast<char>(is_text ? random() % 128 : random());
  return bytes;
}

/// Far from now: its state is the same a minute later.
SystemTime random_due(std::mt19937& random) {
  const std::int64_t at = random() % 2 == 0 ? 1'700'000'000'000 : 4'102'444'800'000;
  return SystemTime{Milliseconds{at + static_cast<std::int64_t>(random() % 100'000)}};
}

TEST_F(CliExport, TwoThousandJobsComeBackByteForByteOnAnotherServer) {
  std::mt19937 random(17);  // NOLINT(cert-msc51-cpp): the same jobs each time
  std::vector<NewJob> jobs;
  for (int i = 0; i < 2'000; ++i) {
    NewJob job{.type = i % 2 == 0 ? "note" : "", .payload = random_payload(random, i)};
    job.due_at = random_due(random);
    if (i % 5 == 0) job.id = JobId("own-" + std::to_string(i) + "\"\\");
    if (i % 7 == 0) {
      job.priority = static_cast<std::uint32_t>(random() % 10);
      job.lease = Milliseconds{5'000};
      job.timeout = Milliseconds{60'001};
      job.max_attempts = 3;
      job.backoff = {.kind = Backoff::Kind::fixed,
                     .base = std::chrono::hours{24},
                     .factor = 1.001,
                     .jitter = 0.07};
    }
    jobs.push_back(std::move(job));
  }
  Client client(Connection(redis_.url()));
  for (const PutResult& result : client.put("mail", jobs)) {
    ASSERT_EQ(result.outcome, PutOutcome::created);
  }
  Admin admin(Connection(redis_.url()));
  Admin other(Connection(there_.url()));

  const ProgramEnd exported = duly({"export", "mail"});
  ASSERT_EQ(exported.status, 0) << exported.err;
  ASSERT_EQ(std::count(exported.out.begin(), exported.out.end(), '\n'), 2'000);
  const ProgramEnd imported = there({"import", "ndjson", "--queue", "mail"}, exported.out);
  ASSERT_EQ(imported.status, 0) << imported.err;

  EXPECT_TRUE(there({"export", "mail"}).out == exported.out);
  for (const char* const own : {"own-0\"\\", "own-5\"\\", "own-35\"\\", "own-1995\"\\"}) {
    const auto before = admin.find("mail", JobId(own));
    const auto after = other.find("mail", JobId(own));
    ASSERT_TRUE(before && after) << own;
    EXPECT_TRUE(before->payload == after->payload) << own;
    EXPECT_EQ(before->backoff, after->backoff) << own;
    EXPECT_EQ(before->due_at, after->due_at) << own;
  }
  const ProgramEnd again = there({"import", "ndjson", "--queue", "mail"}, exported.out);
  EXPECT_EQ(again.status, 7);
  EXPECT_NE(again.err.find("2000 existed already"), std::string::npos) << again.err;
  EXPECT_TRUE(there({"export", "mail"}).out == exported.out);
}

TEST_F(CliExport, EveryStateIsExportedAndWhatHadEndedIsLeftOutUnlessReplayed) {
  ASSERT_EQ(duly({"limits", "mail", "--done-age", "1h"}).status, 0);
  for (const char* const id : {"dead", "done", "active"}) put({"mail", "x", "--id", id});
  const auto jobs = json_lines({"claim", "mail", "--most", "3"});
  const std::string token = jobs.at(0).at("token");
  ASSERT_EQ(duly({"fail", "mail", "dead", token, "--give-up", "--error", "no \xff"}).status, 0);
  ASSERT_EQ(duly({"ack", "mail", "done", token}).status, 0);
  put({"mail", "x", "--id", "later", "--in", "1h"});
  put({"mail", "x", "--id", "now"});

  EXPECT_EQ(json_lines({"export", "mail"}).size(), 4U);
  const ProgramEnd exported = duly({"export", "mail", "--done"});
  const auto lines = parse_lines(exported.out);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0].at("was").at("state"), "scheduled");
  EXPECT_EQ(lines[1].at("was").at("state"), "ready");
  EXPECT_EQ(lines[2].at("was").at("state"), "active");
  EXPECT_EQ(lines[3].at("was").at("dead_reason"), "given_up");
  EXPECT_EQ(lines[3].at("was").at("last_error_base64"), "bm8g/w==");
  EXPECT_EQ(lines[4].at("was").at("state"), "done");

  const ProgramEnd left = there({"import", "ndjson", "--queue", "mail"}, exported.out);
  EXPECT_EQ(left.status, 0) << left.err;
  EXPECT_NE(left.err.find("put 3 jobs"), std::string::npos) << left.err;
  EXPECT_NE(left.err.find("2 dead or done left out"), std::string::npos) << left.err;
  EXPECT_EQ(there({"show", "mail", "dead"}).status, 7);
  const ProgramEnd replayed =
      there({"import", "ndjson", "--queue", "mail", "--replay-dead"}, exported.out);
  EXPECT_EQ(replayed.status, 7);
  EXPECT_NE(replayed.err.find("put 2 jobs"), std::string::npos) << replayed.err;
  EXPECT_EQ(there({"show", "mail", "dead"}).status, 0);
}

TEST_F(CliExport, ItsLinesAreGoodForPutAsWell) {
  put({"mail", "x", "--id", "a", "--in", "1h"});
  const ProgramEnd exported = duly({"export", "mail"});

  EXPECT_EQ(there({"put", "other", "--ndjson", "-"}, exported.out).status, 0);
  EXPECT_EQ(there({"show", "other", "a"}).status, 0);
}

TEST_F(CliExport, AnUnreadableRecordIsToldAndNoJob) {
  put({"mail", "x", "--id", "a", "--in", "1h"});
  ASSERT_EQ(redis_.cli("HSET", "duly:{mail}:jobs", "a", "damaged"), "0");
  const ProgramEnd exported = duly({"export", "mail"});

  const ProgramEnd end = there({"import", "ndjson", "--queue", "mail"}, exported.out);

  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("line 1: an unreadable record"), std::string::npos) << end.err;
  EXPECT_EQ(there({"show", "mail", "a"}).status, 7);
}

TEST_F(CliExport, AFileOrStandardInputIsReadAndAWrongLineStopsNoOther) {
  const std::string path = (redis_.folder() / "lines").string();
  ASSERT_EQ(
      run_program({"tee", path}, {.input = "{\"id\":\"a\"}\n{\"was\":1}\n{\"id\":\"b\"}\n"}).status,
      0);

  const ProgramEnd end = duly({"import", "ndjson", path, "--queue", "mail", "--type", "note"});

  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("line 2: was: "), std::string::npos) << end.err;
  EXPECT_EQ(json({"show", "mail", "b"}).at("type"), "note");
  EXPECT_EQ(duly({"import", "ndjson", "/does/not/exist", "--queue", "mail"}).status, 2);
}

TEST_F(CliExport, AnEmptyQueueIsNoLineAndNoError) {
  const ProgramEnd end = duly({"export", "mail"});

  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out, "");
  EXPECT_EQ(end.err, "duly: exported 0 jobs, 0 bytes\n");
}

}  // namespace
}  // namespace duly::testing
