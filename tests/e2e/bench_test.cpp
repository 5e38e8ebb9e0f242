#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class Bench : public CliTest {};

TEST_F(Bench, AFigureIsOneLineOfJson) {
  const auto rows = json_lines({"bench", "--quick", "life_batch100", "embedded_start"});
  ASSERT_EQ(rows.size(), 2U);

  const Json& life = rows[0];
  EXPECT_EQ(life.at("name"), "life_batch100");
  EXPECT_EQ(life.at("unit"), "jobs/s");
  EXPECT_EQ(life.at("target"), "ratio >= 1");
  EXPECT_EQ(life.at("ok"), life.at("ratio") >= 1);
  for (const char* const number : {"value", "floor", "ratio", "floor_variadic", "ratio_variadic",
                                   "client_us", "redis_us", "floor_client_us", "floor_redis_us"}) {
    EXPECT_GT(life.at(number), 0) << number;
  }

  const Json& start = rows[1];
  EXPECT_EQ(start.at("name"), "embedded_start");
  EXPECT_EQ(start.at("unit"), "ms");
  EXPECT_GT(start.at("value"), 0);
  EXPECT_TRUE(start.at("floor").is_null());
  EXPECT_TRUE(start.at("ratio").is_null());
  EXPECT_TRUE(start.at("ok").is_boolean());
}

TEST_F(Bench, TheTableNamesTargetAndVerdict) {
  const ProgramEnd end = duly({"bench", "--quick", "recovery_after_kill"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_NE(end.out.find("s after the lease end <= 1"), std::string::npos) << end.out;
  EXPECT_TRUE(end.out.find("ok") != std::string::npos ||
              end.out.find("MISSED") != std::string::npos);
  EXPECT_TRUE(end.err.starts_with("duly: bench: recovery_after_kill\nduly: bench: figures: 1, "))
      << end.err;
}

TEST_F(Bench, AnUnknownFigureIsRefusedWithTheNamesOfAll) {
  const ProgramEnd end = duly({"bench", "speed"});
  EXPECT_EQ(end.status, 2);
  EXPECT_EQ(end.err.find("duly: figure: \"speed\", expected one of: put_batch100 life_batch100"),
            0U)
      << end.err;
}

TEST_F(Bench, AServerThatDoesNotStartIsNamedWithItsLastWords) {
  const ProgramEnd end = duly({"bench", "life_single", "--redis-server", "/bin/false"});
  EXPECT_EQ(end.status, 3);
  EXPECT_NE(end.err.find("/bin/false: does not start"), std::string::npos) << end.err;
}

}  // namespace
}  // namespace duly::testing
