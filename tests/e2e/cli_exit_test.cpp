#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class CliExit : public CliTest {};

TEST_F(CliExit, AnOutputThatCannotBeWrittenEndsWith1) {
  const ProgramEnd end = run_program({"sh", "-c", "\"$0\" version >/dev/full", binary()});

  EXPECT_EQ(end.status, 1);
  EXPECT_TRUE(end.err.starts_with("duly: standard output: ")) << end.err;
}

TEST_F(CliExit, AFullRedisEndsWith5AndCanBeDrained) {
  put({"mail", "x", "--id", "a"});
  ASSERT_EQ(redis_.cli("CONFIG", "SET", "maxmemory", "1"), "OK");

  const ProgramEnd full = duly({"put", "mail", "y", "--json"});

  EXPECT_EQ(full.status, 5);
  EXPECT_EQ(code_of(full), "out_of_memory");
  EXPECT_EQ(duly({"cancel", "mail", "a"}).status, 0);
}

TEST_F(CliExit, ALibraryOfALaterMajorVersionEndsWith6) {
  ASSERT_EQ(redis_.cli("FUNCTION", "LOAD",
                       "#!lua name=duly\nredis.register_function{function_name='duly_version', "
                       "callback=function() return {'version', '9.0.0'} end, "
                       "flags={'no-writes'}}"),
            "duly");

  const ProgramEnd end = duly({"put", "mail", "x", "--json"});

  EXPECT_EQ(end.status, 6);
  EXPECT_EQ(code_of(end), "incompatible");
  EXPECT_EQ(redis_.cli("EXISTS", "duly:{mail}:jobs"), "0");
}

}  // namespace
}  // namespace duly::testing
