#include "src/core/check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/duration.h"

namespace duly::core {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// The message of an invalid_argument error; "ok" if there is none.
std::string said(const std::optional<Error>& error) {
  if (!error) return "ok";
  EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
  EXPECT_EQ(printable(error->what()), error->what()) << "control characters in a message";
  return error->what();
}

std::string check_job_said(const NewJob& job) { return said(check_job(job, Limits::payload)); }

TEST(CheckQueue, B23AllowedNames) {
  for (const std::string& name :
       {std::string("mail"), std::string(".."), std::string("-x"), std::string("A.b_c-d:e"),
        std::string("0"), std::string(128, 'a')}) {
    EXPECT_EQ(said(check_queue(name)), "ok") << name;
  }
}

TEST(CheckQueue, B23RefusedNamesGetTheRule) {
  const std::string rule = ", expected 1 .. 128 characters of A-Z a-z 0-9 . _ - :";
  EXPECT_EQ(said(check_queue("")), "queue: empty" + rule);
  EXPECT_EQ(said(check_queue("a b")), "queue: \"a b\"" + rule);
  EXPECT_EQ(said(check_queue("a\nb\x1B[2J")), "queue: \"a\\nb\\x1B[2J\"" + rule);
  EXPECT_EQ(said(check_queue(std::string(129, 'a'))), "queue: 129 bytes" + rule);
  for (const std::string& name :
       {std::string("a/b"), std::string("a+b"), std::string("a%2Fb"), std::string("a#b"),
        std::string("a?b"), std::string("\"q\""), std::string("na\xC3\xAFve"),
        std::string("\xF0\x9F\x90\x9F"), std::string(255, 'a'), std::string(256, 'a'),
        std::string("a{b}"), std::string("a\0b", 3), std::string("\xED\xA0\x80"),
        std::string(" ")}) {
    const std::string text = said(check_queue(name));
    EXPECT_NE(text.find(rule), std::string::npos) << text;
  }
}

TEST(CheckId, PrintableAsciiWithoutBlanks) {
  const std::string rule = ", expected 1 .. 128 bytes of printable ASCII without blanks";
  EXPECT_EQ(said(check_id(JobId("!order/42?~"))), "ok");
  EXPECT_EQ(said(check_id(JobId(std::string(128, 'x')))), "ok");
  EXPECT_EQ(said(check_id(JobId())), "id: empty" + rule);
  EXPECT_EQ(said(check_id(JobId(std::string(129, 'x')))), "id: 129 bytes" + rule);
  EXPECT_EQ(said(check_id(JobId("a b"))), "id: \"a b\"" + rule);
  EXPECT_EQ(said(check_id(JobId("\x7F"))), "id: \"\\x7F\"" + rule);
  EXPECT_EQ(said(check_id(JobId("\xC3\xA9"))), "id: \"\xC3\xA9\"" + rule);
}

TEST(CheckToken, IsNeverShown) {
  const std::string rule = ", expected 1 .. 64 characters of A-Z a-z 0-9 . _ -";
  EXPECT_EQ(said(check_token(LeaseToken("aZ0._-"))), "ok");
  EXPECT_EQ(said(check_token(LeaseToken(std::string(64, 'x')))), "ok");
  EXPECT_EQ(said(check_token(LeaseToken())), "token: empty" + rule);
  EXPECT_EQ(said(check_token(LeaseToken(std::string(65, 'x')))), "token: 65 bytes" + rule);
  EXPECT_EQ(said(check_token(LeaseToken("secret:1"))),
            "token: a character that no token has" + rule);
}

TEST(CheckDelay, B16LongDelaysAreExact) {
  for (const std::int64_t ms : {0LL, 1LL, 2'147'483'647LL, 2'147'483'648LL, 4'294'967'295LL,
                                4'294'967'296LL, 31'536'000'000LL, 3'153'600'000'000LL}) {
    EXPECT_EQ(said(check_delay(Milliseconds{ms})), "ok") << ms;
    EXPECT_EQ(parse_duration(std::to_string(ms) + "ms"), Milliseconds{ms});
    EXPECT_EQ(parse_duration(format_duration(Milliseconds{ms})), Milliseconds{ms});
  }
  EXPECT_EQ(said(check_delay(Limits::delay)), "ok");
}

TEST(CheckDelay, B17NegativeAndAbsurdDelaysAreRefused) {
  EXPECT_EQ(said(check_delay(-5ms)), "delay: -5 ms, expected 0 .. 100 years");
  for (const std::int64_t ms : {std::int64_t{-1}, std::int64_t{-1'000'000'000'000'000}, kLeast,
                                kMost, Limits::delay.count() + 1}) {
    EXPECT_EQ(said(check_delay(Milliseconds{ms})),
              "delay: " + std::to_string(ms) + " ms, expected 0 .. 100 years");
  }
}

TEST(CheckDueAt, B17NegativeTimesAreRefusedAndThePastIsNot) {
  const std::string bounds = ", expected 1970-01-01T00:00:00.000Z .. 9999-12-31T23:59:59.999Z";
  EXPECT_EQ(said(check_due_at(SystemTime{})), "ok");
  EXPECT_EQ(said(check_due_at(Limits::last_due_at)), "ok");
  for (const std::int64_t ms :
       {std::int64_t{-1}, kLeast, kMost, std::int64_t{253'402'300'800'000}}) {
    EXPECT_EQ(said(check_due_at(SystemTime{Milliseconds{ms}})),
              "due_at: " + std::to_string(ms) + " ms" + bounds);
  }
}

TEST(CheckLease, HasALeastAndAMost) {
  EXPECT_EQ(said(check_lease(100ms)), "ok");
  EXPECT_EQ(said(check_lease(24h)), "ok");
  EXPECT_EQ(said(check_lease(0ms)), "lease: 0 ms, expected 100ms .. 1d");
  EXPECT_EQ(said(check_lease(99ms)), "lease: 99 ms, expected 100ms .. 1d");
  EXPECT_EQ(said(check_lease(24h + 1ms)), "lease: 86400001 ms, expected 100ms .. 1d");
}

TEST(CheckPayload, CountsBytesAndShowsNone) {
  EXPECT_EQ(said(check_payload("", 0)), "ok");
  EXPECT_EQ(said(check_payload("12345", 5)), "ok");
  EXPECT_EQ(said(check_payload("secret", 5)), "payload: 6 bytes, expected 0 .. 5");
}

TEST(CheckBackoff, B50FactorsThatAreNoFactorsAreRefused) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto with_factor = [](double factor) { return said(check_backoff({.factor = factor})); };
  const std::string bounds = ", expected 1 .. 1000000";
  EXPECT_EQ(with_factor(0), "backoff factor: 0" + bounds);
  EXPECT_EQ(with_factor(-1), "backoff factor: -1" + bounds);
  EXPECT_EQ(with_factor(std::nan("")), "backoff factor: nan" + bounds);
  EXPECT_EQ(with_factor(inf), "backoff factor: inf" + bounds);
  EXPECT_EQ(with_factor(-inf), "backoff factor: -inf" + bounds);
  EXPECT_EQ(with_factor(0.999), "backoff factor: 0.999" + bounds);
  EXPECT_EQ(with_factor(1e300), "backoff factor: 1e+300" + bounds);
  EXPECT_EQ(with_factor(1e-300), "backoff factor: 1e-300" + bounds);
  EXPECT_EQ(with_factor(1), "ok");
  EXPECT_EQ(with_factor(1e6), "ok");
}

TEST(CheckBackoff, B50JitterIsAPart) {
  const auto with_jitter = [](double jitter) { return said(check_backoff({.jitter = jitter})); };
  EXPECT_EQ(with_jitter(-0.1), "backoff jitter: -0.1, expected 0 .. 1");
  EXPECT_EQ(with_jitter(1.1), "backoff jitter: 1.1, expected 0 .. 1");
  EXPECT_EQ(with_jitter(std::nan("")), "backoff jitter: nan, expected 0 .. 1");
  EXPECT_EQ(with_jitter(0), "ok");
  EXPECT_EQ(with_jitter(1), "ok");
}

TEST(CheckBackoff, TheCapIsNotBelowTheBase) {
  EXPECT_EQ(said(check_backoff({.base = 2s, .cap = 1s})),
            "backoff cap: 1000 ms, expected at least the base, 2000 ms, or 0 for none");
  EXPECT_EQ(said(check_backoff({.base = 2s, .cap = 2s})), "ok");
  EXPECT_EQ(said(check_backoff({.base = 2s, .cap = 0s})), "ok");
  EXPECT_EQ(said(check_backoff({.kind = Backoff::Kind::fixed, .base = 24h})), "ok");
  EXPECT_EQ(said(check_backoff({.base = -1ms})), "backoff base: -1 ms, expected 0 .. 30d");
  EXPECT_EQ(said(check_backoff({.base = 1s, .cap = Limits::backoff + 1ms})),
            "backoff cap: 2592000001 ms, expected 0 .. 30d");
}

TEST(CheckFailure, RetryInFollowsTheRuleOfDelays) {
  EXPECT_EQ(said(check_failure({})), "ok");
  EXPECT_EQ(said(check_failure({.retry_in = 0ms})), "ok");
  EXPECT_EQ(said(check_failure({.error = std::string(100'000, '\x80')})), "ok");
  EXPECT_EQ(said(check_failure({.retry_in = -1ms})), "retry_in: -1 ms, expected 0 .. 100 years");
}

TEST(CheckJob, DefaultsAndBoundsAreFine) {
  EXPECT_EQ(check_job_said({}), "ok");
  EXPECT_EQ(check_job_said({.type = std::string(128, '~'),
                            .payload = std::string(Limits::payload, '\0'),
                            .delay = Limits::delay,
                            .id = JobId("x"),
                            .lease = 100ms,
                            .timeout = 1ms,
                            .max_attempts = 65'535}),
            "ok");
  EXPECT_EQ(check_job_said({.due_at = Limits::last_due_at}), "ok");
}

TEST(CheckJob, NamesTheFieldThatIsWrong) {
  const std::string type_rule = ", expected 0 .. 128 bytes of printable ASCII without blanks";
  EXPECT_EQ(check_job_said({.type = "a b"}), "type: \"a b\"" + type_rule);
  EXPECT_EQ(check_job_said({.type = std::string(129, 'a')}), "type: 129 bytes" + type_rule);
  EXPECT_EQ(check_job_said({.payload = std::string(Limits::payload + 1, 'x')}),
            "payload: 1048577 bytes, expected 0 .. 1048576");
  EXPECT_EQ(check_job_said({.delay = -1ms}), "delay: -1 ms, expected 0 .. 100 years");
  EXPECT_EQ(check_job_said({.delay = 1ms, .due_at = SystemTime{}}),
            "due_at: given beside a delay, expected one of the two");
  EXPECT_EQ(check_job_said({.due_at = SystemTime{-1ms}}).substr(0, 13), "due_at: -1 ms");
  EXPECT_EQ(check_job_said({.id = JobId()}).substr(0, 9), "id: empty");
  EXPECT_EQ(check_job_said({.lease = 1ms}), "lease: 1 ms, expected 100ms .. 1d");
  EXPECT_EQ(check_job_said({.timeout = 0ms}), "timeout: 0 ms, expected 1ms .. 30d");
  EXPECT_EQ(check_job_said({.timeout = Limits::timeout + 1ms}),
            "timeout: 2592000001 ms, expected 1ms .. 30d");
  EXPECT_EQ(check_job_said({.max_attempts = 0}), "max attempts: 0, expected 1 .. 65535");
  EXPECT_EQ(check_job_said({.max_attempts = 65'536}), "max attempts: 65536, expected 1 .. 65535");
  EXPECT_EQ(check_job_said({.backoff = {.jitter = 2}}), "backoff jitter: 2, expected 0 .. 1");
}

TEST(Require, ThrowsWhatACheckFound) {
  EXPECT_NO_THROW(require(std::nullopt));
  try {
    require(check_delay(-5ms));
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_STREQ(error.what(), "delay: -5 ms, expected 0 .. 100 years");
  }
}

}  // namespace
}  // namespace duly::core
