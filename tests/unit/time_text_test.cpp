#include "src/core/time_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "duly/job.h"
#include "src/core/bytes.h"

namespace duly::core {
namespace {

std::string refusal(const std::string& text) {
  try {
    const SystemTime time = parse_time(text);
    return "read as " + format_time(time);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(printable(error.what()), error.what());
    return error.what();
  }
}

std::int64_t ms_of(const std::string& text) { return parse_time(text).time_since_epoch().count(); }

TEST(TimeText, ReadsRfc3339) {
  const std::vector<std::pair<std::string, std::int64_t>> pairs{
      {"1970-01-01T00:00:00Z", 0},
      {"2026-12-24T18:00:00+01:00", 1'798'131'600'000},
      {"2026-12-24T17:00:00Z", 1'798'131'600'000},
      {"2026-12-24t17:00:00z", 1'798'131'600'000},
      {"2026-12-24 17:00:00Z", 1'798'131'600'000},
      {"2026-12-24T09:00:00-08:00", 1'798'131'600'000},
      {"2026-12-24T17:00:00-00:00", 1'798'131'600'000},
      {"2026-12-25T16:59:00+23:59", 1'798'131'600'000},
      {"2026-12-24T17:00:00.2Z", 1'798'131'600'200},
      {"2026-12-24T17:00:00.25Z", 1'798'131'600'250},
      {"2026-12-24T17:00:00.007Z", 1'798'131'600'007},
      {"2024-02-29T00:00:00Z", 1'709'164'800'000},
      {"2000-02-29T00:00:00Z", 951'782'400'000},
      {"1969-12-31T23:30:00-00:30", 0},
  };
  for (const auto& [text, ms] : pairs) EXPECT_EQ(ms_of(text), ms) << text;
}

TEST(TimeText, ReadsEpochSeconds) {
  EXPECT_EQ(ms_of("0"), 0);
  EXPECT_EQ(ms_of("1798135200"), 1'798'135'200'000);
  EXPECT_EQ(ms_of("1798135200.25"), 1'798'135'200'250);
  EXPECT_EQ(ms_of("1798135200.250"), 1'798'135'200'250);
  EXPECT_EQ(ms_of("4294967296"), 4'294'967'296'000);
}

TEST(TimeText, B19ExactToTheLastMillisecondOf9999) {
  EXPECT_EQ(parse_time("9999-12-31T23:59:59.999Z"), Limits::last_due_at);
  EXPECT_EQ(parse_time("253402300799.999"), Limits::last_due_at);
  EXPECT_EQ(format_time(Limits::last_due_at), "9999-12-31T23:59:59.999Z");
  std::mt19937_64 random(20'260'102);
  for (int i = 0; i < 20'000; ++i) {
    const auto count = static_cast<std::uint64_t>(Limits::last_due_at.time_since_epoch().count());
    const SystemTime time{Milliseconds{static_cast<std::int64_t>(random() % (count + 1))}};
    const std::string text = format_time(time);
    ASSERT_EQ(text.size(), 24U);
    ASSERT_EQ(parse_time(text), time) << text;
  }
}

TEST(TimeText, TimesOutsideTheRangeAreRefused) {
  for (const std::string text :
       {"1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00+00:01", "0000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z"}) {
    EXPECT_EQ(refusal(text), "time: \"" + text +
                                 "\", expected a time from 1970-01-01T00:00:00Z to the end of the "
                                 "year 9999");
  }
  for (const std::string text : {"253402300800", "1798135200250", "9223372036854775808",
                                 "18446744073709551617", "99999999999999999999999999999"}) {
    EXPECT_EQ(refusal(text), "time: \"" + text +
                                 "\", expected epoch seconds (not milliseconds), up to the year "
                                 "9999");
  }
}

TEST(TimeText, B17BadTextsAreRefused) {
  for (const std::string text : {"",
                                 "-1",
                                 "-1000000000000000",
                                 "-9223372036854775808",
                                 "abc",
                                 "1e3",
                                 "NaN",
                                 " 5",
                                 "5 ",
                                 "5s5",
                                 "+5",
                                 ".5",
                                 "5.",
                                 "1.2.3",
                                 "0x10",
                                 "2026-12-24",
                                 "2026-12-24T17:00Z",
                                 "2026-12-24T17:00:00",
                                 "2026-12-24T17:00:00+01",
                                 "2026-12-24T17:00:00+0100",
                                 "2026-12-24T17:00:00.Z",
                                 "2026-12-24T17:00:00,5Z",
                                 "2026-12-24T17:00:00Zx",
                                 "2026-12-24T17:00:00Z ",
                                 "2026-12-24_17:00:00Z",
                                 "26-12-24T17:00:00Z",
                                 "12026-12-24T17:00:00Z",
                                 "2026-1-24T17:00:00Z",
                                 "2026-12-24T17:00:00 +01:00",
                                 "-026-12-24T17:00:00Z",
                                 "2026-12-24T17:00:-1Z",
                                 "tomorrow",
                                 "2026-12-24T17:00:00Z\n"}) {
    EXPECT_EQ(refusal(text), "time: \"" + printable(text) +
                                 "\", expected 2026-12-24T18:00:00+01:00, 2026-12-24T17:00:00Z or "
                                 "epoch seconds");
  }
  EXPECT_EQ(refusal("1798135200.2505"),
            "time: \"1798135200.2505\", expected at most 3 digits of a second");
  EXPECT_NE(refusal("2026-12-24T17:00:00.0000Z").find("at most 3 digits"), std::string::npos);
  EXPECT_NE(refusal("798135200.21798135200").find("at most 3 digits"), std::string::npos);
}

TEST(TimeText, DatesAndTimesThatDoNotExistAreRefused) {
  for (const char* text :
       {"2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z"}) {
    EXPECT_NE(refusal(text).find("expected a date that exists"), std::string::npos) << text;
  }
  for (const char* text :
       {"2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z"}) {
    EXPECT_NE(refusal(text).find("expected a time of day"), std::string::npos) << text;
  }
  for (const char* text : {"2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00-00:60"}) {
    EXPECT_NE(refusal(text).find("expected an offset"), std::string::npos) << text;
  }
}

TEST(TimeText, ALeapSecondIsTheSecondThatFollows) {
  EXPECT_EQ(format_time(parse_time("2016-12-31T23:59:60Z")), "2017-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time(parse_time("2016-12-31T15:59:60.5-08:00")), "2017-01-01T00:00:00.500Z");
  EXPECT_NE(refusal("2016-12-31T12:00:60Z").find("a leap second only"), std::string::npos);
  EXPECT_NE(refusal("2016-12-31T23:59:60-08:00").find("a leap second only"), std::string::npos);
}

TEST(TimeText, WritesUtcWithMilliseconds) {
  EXPECT_EQ(format_time(SystemTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time(SystemTime{Milliseconds{1'798'131'600'007}}), "2026-12-24T17:00:00.007Z");
}

TEST(TimeText, ATimeOutsideTheRangeIsWrittenAsItsMilliseconds) {
  EXPECT_EQ(format_time(SystemTime{Milliseconds{-1}}), "-1ms");
  EXPECT_EQ(format_time(SystemTime::max()), "9223372036854775807ms");
}

}  // namespace
}  // namespace duly::core
