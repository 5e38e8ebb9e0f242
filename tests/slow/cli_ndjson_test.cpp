#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class CliNdjson : public CliTest {};

TEST_F(CliNdjson, StreamsHundredThousandLinesInBoundedMemory) {
  std::string lines;
  for (int i = 0; i < 100'000; ++i) {
    lines += R"({"payload":"0123456789012345678901234567890123456789","in":"1h"})"
             "\n";
  }
  const ProgramEnd few = duly({"put", "few", "--ndjson", "-"}, lines.substr(0, lines.size() / 50));
  ASSERT_EQ(few.status, 0) << few.err;

  const ProgramEnd end = duly({"put", "many", "--ndjson", "-"}, lines);

  ASSERT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(json({"stats", "many"}).at("scheduled"), 100'000);
  EXPECT_LT(end.most_memory_kib, few.most_memory_kib + 16L * 1024);
}

}  // namespace
}  // namespace duly::testing
