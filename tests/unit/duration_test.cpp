#include "src/core/duration.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "duly/job.h"
#include "src/core/bytes.h"

namespace duly::core {
namespace {

using namespace std::chrono_literals;

std::string refusal(const std::string& text) {
  try {
    const Milliseconds duration = parse_duration(text);
    return "read as " + std::to_string(duration.count()) + " ms";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(printable(error.what()), error.what());
    return error.what();
  }
}

TEST(Duration, ReadsWhatPeopleWrite) {
  const std::vector<std::pair<std::string, Milliseconds>> pairs{
      {"0", 0ms},
      {"0s", 0ms},
      {"0d0h0m0s0ms", 0ms},
      {"90s", 90s},
      {"30m", 30min},
      {"1h30m", 90min},
      {"7d", 168h},
      {"250ms", 250ms},
      {"1.5h", 90min},
      {"1m30.5s", 90'500ms},
      {"0.001s", 1ms},
      {"1.000000000000000s", 1s},
      {"1.0ms", 1ms},
      {"007s", 7s},
      {"100s", 100s},
      {"90m", 90min},
      {"1d2h3m4s5ms", 93'784'005ms},
      {"1d5ms", 86'400'005ms},
      {"0.0009765625d", 84'375ms},
  };
  for (const auto& [text, duration] : pairs) EXPECT_EQ(parse_duration(text), duration) << text;
}

TEST(Duration, B16LongOnesAreExactUpToTheLimit) {
  EXPECT_EQ(parse_duration("2147483648ms").count(), 2'147'483'648);
  EXPECT_EQ(parse_duration("4294967296ms").count(), 4'294'967'296);
  EXPECT_EQ(parse_duration("365d").count(), 31'536'000'000);
  EXPECT_EQ(parse_duration("36500d").count(), 3'153'600'000'000);
  EXPECT_EQ(parse_duration("36524d6h"), Limits::delay);
  EXPECT_EQ(parse_duration("36524.25d"), Limits::delay);
  EXPECT_EQ(parse_duration("3155695200000ms"), Limits::delay);
}

TEST(Duration, B16OverTheLimitIsRefused) {
  for (const std::string text :
       {"36524d6h1ms", "3155695200001ms", "36525d", "9223372036854775807ms",
        "9223372036854775808ms", "18446744073709551617ms", "99999999999999999999999999d",
        "36524d999999h", "36524.3d"}) {
    EXPECT_EQ(refusal(text), "duration: \"" + text + "\", expected at most 100 years");
  }
}

TEST(Duration, B17BadTextsAreRefused) {
  for (const std::string text : {"-1",
                                 "-1s",
                                 "+1s",
                                 "-1000000000000000",
                                 "-9223372036854775808",
                                 "abc",
                                 "",
                                 "1e3",
                                 "1e3s",
                                 "NaN",
                                 "nan",
                                 "inf",
                                 " 5",
                                 "5 ",
                                 "5",
                                 "00",
                                 "5s5",
                                 "5 s",
                                 " 5s",
                                 "5s ",
                                 ".5s",
                                 "5.s",
                                 "5.",
                                 "1.5",
                                 "1..5s",
                                 "1.5.5s",
                                 "1,5s",
                                 "s",
                                 "ms",
                                 "5S",
                                 "5sec",
                                 "5M",
                                 "5us",
                                 "1w",
                                 "0x5s",
                                 "1h-30m",
                                 "5s\n",
                                 "\xD9\xA5s"}) {
    EXPECT_EQ(refusal(text), "duration: \"" + printable(text) +
                                 "\", expected a length of time such as 90s, 1h30m, 1.5h or 250ms");
  }
  EXPECT_NE(refusal(std::string("5s\0", 3)).find("\"5s\\x00\""), std::string::npos);
}

TEST(Duration, EachUnitStandsOnceAndInOrder) {
  for (const char* text : {"1s1s", "30m1h", "1ms1s", "1h1d", "1h2h"}) {
    EXPECT_NE(refusal(text).find("each unit once, from large to small"), std::string::npos) << text;
  }
  for (const char* text : {"1.5h30m", "1.0d1h"}) {
    EXPECT_NE(refusal(text).find("a fraction in the last number only"), std::string::npos) << text;
  }
}

TEST(Duration, OnlyWholeMillisecondsAreRead) {
  for (const char* text : {"1.5ms", "0.0001s", "0.00001m", "0.1234567890123s", "0.00000000001d"}) {
    EXPECT_NE(refusal(text).find("expected whole milliseconds"), std::string::npos) << text;
  }
}

TEST(Duration, WritesTheShortestExactText) {
  EXPECT_EQ(format_duration(0ms), "0s");
  EXPECT_EQ(format_duration(250ms), "250ms");
  EXPECT_EQ(format_duration(90min), "1h30m");
  EXPECT_EQ(format_duration(168h), "7d");
  EXPECT_EQ(format_duration(93'784'005ms), "1d2h3m4s5ms");
  EXPECT_EQ(format_duration(Limits::delay), "36524d6h");
  EXPECT_EQ(format_duration(-1500ms), "-1s500ms");
  EXPECT_EQ(format_duration(Milliseconds{std::numeric_limits<std::int64_t>::min()}),
            "-106751991167d7h12m55s808ms");
}

TEST(Duration, WhatIsWrittenIsReadBack) {
  std::mt19937_64 random(20'260'101);
  for (int i = 0; i < 20'000; ++i) {
    const auto most = static_cast<std::uint64_t>(Limits::delay.count()) >> (random() % 42);
    const Milliseconds duration{static_cast<std::int64_t>(random() % (most + 1))};
    ASSERT_EQ(parse_duration(format_duration(duration)), duration) << duration.count();
  }
}

}  // namespace
}  // namespace duly::core
