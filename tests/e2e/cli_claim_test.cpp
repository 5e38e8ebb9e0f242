#include "tests/e2e/cli_fixture.h"
#include "tests/support/eventually.h"

namespace duly::testing {
namespace {

class CliClaim : public CliTest {
 protected:
  struct Claimed {
    std::string id;
    std::string token;
  };

  [[nodiscard]] Claimed claim() const {
    const Json job = json({"claim", "mail"});
    return {job.at("id"), job.at("token")};
  }

  [[nodiscard]] std::string state(const std::string& id) const {
    return json({"show", "mail", id}).at("state");
  }
};

TEST_F(CliClaim, AnswersTheJobAndItsTokenInThisOrder) {
  put({"mail", "hello", "--id", "a", "--type", "note"});

  const ProgramEnd end = duly({"claim", "mail", "--json"});

  ASSERT_EQ(end.status, 0) << end.err;
  EXPECT_TRUE(end.out.starts_with(R"({"id":"a","token":")")) << end.out;
  EXPECT_NE(
      end.out.find(R"(","queue":"mail","type":"note","payload":"hello","attempt":1,"due_at_ms":)"),
      std::string::npos)
      << end.out;
}

TEST_F(CliClaim, OfAnEmptyQueueIsNoError) {
  const ProgramEnd end = duly({"claim", "mail"});

  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out, "");
  EXPECT_EQ(end.err, "duly: no job of mail is due\n");
}

TEST_F(CliClaim, TakesAtMostSoMany) {
  for (int i = 0; i < 5; ++i) put({"mail", "x"});

  EXPECT_EQ(json_lines({"claim", "mail", "--most", "3"}).size(), 3U);
  EXPECT_EQ(json_lines({"claim", "mail", "--most", "10000"}).size(), 2U);
  EXPECT_EQ(duly({"claim", "mail", "--most", "0"}).status, 2);
  EXPECT_EQ(duly({"claim", "mail", "--most", "10001"}).status, 2);
  EXPECT_EQ(duly({"claim", "mail", "--most", "0x10"}).status, 2);
}

TEST_F(CliClaim, WaitsForAJobThatBecomesDue) {
  put({"mail", "x", "--id", "soon", "--in", "300ms"});

  EXPECT_EQ(json({"claim", "mail", "--wait", "10s"}).at("id"), "soon");
}

TEST_F(CliClaim, WaitsNoLongerThanAsked) {
  const auto begun_at = std::chrono::steady_clock::now();

  EXPECT_TRUE(json_lines({"claim", "mail", "--wait", "200ms"}).empty());

  EXPECT_GE(std::chrono::steady_clock::now() - begun_at, std::chrono::milliseconds{200});
}

TEST_F(CliClaim, ShowsControlCharactersOfAPayloadInPrintableForm) {
  put({"mail", "a\x1b[31mb\nc"});

  const ProgramEnd end = duly({"claim", "mail"});

  EXPECT_NE(end.out.find("payload  a\\x1B[31mb\\nc\n"), std::string::npos) << end.out;
}

TEST_F(CliClaim, AckEndsTheJob) {
  put({"mail", "x"});
  const Claimed job = claim();

  const ProgramEnd end = duly({"ack", "mail", job.id, job.token, "--json"});

  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out, R"({"id":")" + job.id + R"(","outcome":"acked"})" + "\n");
  EXPECT_EQ(duly({"show", "mail", job.id}).status, 7);
}

TEST_F(CliClaim, AWrongTokenChangesNothingAndEndsWith7) {
  put({"mail", "x"});
  const Claimed job = claim();

  for (const std::string command : {"ack", "fail", "release"}) {
    const ProgramEnd end = duly({command, "mail", job.id, "wrong", "--json"});
    EXPECT_EQ(end.status, 7) << command;
    EXPECT_EQ(Json::parse(end.out).at("outcome"), "lease_lost") << command;
  }
  EXPECT_EQ(duly({"extend", "mail", job.id, "wrong", "--lease", "1m"}).status, 7);
  EXPECT_EQ(duly({"ack", "mail", job.id, "no token!"}).status, 2);
  EXPECT_EQ(state(job.id), "active");
}

TEST_F(CliClaim, FailKeepsTheErrorAndTriesAgainWhenAsked) {
  put({"mail", "x"});
  const Claimed job = claim();

  const ProgramEnd end = duly(
      {"fail", "mail", job.id, job.token, "--error", "mailbox full", "--retry-in", "1h", "--json"});

  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(Json::parse(end.out).at("outcome"), "failed");
  const Json info = json({"show", "mail", job.id});
  EXPECT_EQ(info.at("state"), "scheduled");
  EXPECT_EQ(info.at("failures"), 1);
  EXPECT_EQ(info.at("last_error"), "mailbox full");
}

TEST_F(CliClaim, FailGivesUpWhenAsked) {
  put({"mail", "x"});
  const Claimed job = claim();

  const ProgramEnd end = duly({"fail", "mail", job.id, job.token, "--give-up", "--json"});

  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(Json::parse(end.out).at("outcome"), "dead");
  EXPECT_EQ(json({"show", "mail", job.id}).at("dead_reason"), "given_up");
  EXPECT_EQ(duly({"fail", "mail", job.id, job.token, "--give-up", "--retry-in", "1s"}).status, 2);
}

TEST_F(CliClaim, B22KeepsErrorTextsOfAnyBytes) {
  put({"mail", "x"});
  const Claimed job = claim();

  EXPECT_EQ(duly({"fail", "mail", job.id, job.token, "--error", "\xED\xA0\x80 bad"}).status, 0);

  EXPECT_EQ(json({"show", "mail", job.id}).at("last_error_base64"), "7aCAIGJhZA==");
  EXPECT_NE(duly({"show", "mail", job.id}).out.find("\\xED\\xA0\\x80 bad"), std::string::npos);
}

TEST_F(CliClaim, ReleaseGivesTheJobBackUnharmed) {
  put({"mail", "x"});
  const Claimed job = claim();

  EXPECT_EQ(duly({"release", "mail", job.id, job.token}).out, "released " + job.id + "\n");

  const Json info = json({"show", "mail", job.id});
  EXPECT_EQ(info.at("state"), "ready");
  EXPECT_EQ(info.at("failures"), 0);
}

TEST_F(CliClaim, ExtendKeepsTheLease) {
  put({"mail", "x"});
  const Claimed job = claim();

  EXPECT_EQ(duly({"extend", "mail", job.id, job.token, "--lease", "1h"}).out,
            "extended " + job.id + "\n");
  EXPECT_EQ(duly({"extend", "mail", job.id, job.token}).status, 2);
  EXPECT_EQ(duly({"extend", "mail", job.id, job.token, "--lease", "1ms"}).status, 2);
}

TEST_F(CliClaim, RecoverTakesBackJobsOfExpiredLeases) {
  put({"mail", "x", "--lease", "100ms"});
  const Claimed job = claim();

  EXPECT_TRUE(eventually([&] { return json({"recover", "mail"}).at("recovered") == 1; }));

  EXPECT_EQ(json({"show", "mail", job.id}).at("lost_leases"), 1);
}

}  // namespace
}  // namespace duly::testing
