#include "duly/duly.h"
#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class SlowCliExport : public CliTest {};

TEST_F(SlowCliExport, OneHundredMebibytesPassInBoundedMemory) {
  Client client(Connection(redis_.url()));
  for (int i = 0; i < 100; ++i) {
    client.put("mail", {.payload = std::string(Limits::payload, static_cast<char>(i))});
  }

  const ProgramEnd end = run_program(
      {"sh", "-c", "\"$0\" --redis \"$1\" export mail | wc -l", binary(), redis_.url()});

  EXPECT_EQ(end.out, "100\n");
  EXPECT_LT(end.most_memory_kib, 64L * 1024);
}

}  // namespace
}  // namespace duly::testing
