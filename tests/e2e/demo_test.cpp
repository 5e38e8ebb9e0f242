// `duly demo`: what it shows is true, and nothing of it stays.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/program.h"

namespace duly::testing {
namespace {

using Json = nlohmann::json;

class Demo : public ::testing::Test {
 protected:
  Demo() {
    if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  ~Demo() override { std::filesystem::remove_all(folder_); }

  /// Its private Redis lies in our folder; DULY_REDIS leads nowhere, and must not matter.
  [[nodiscard]] ProgramOptions options() const {
    return {.environment = {{"TMPDIR", folder_}, {"DULY_REDIS", "redis://127.0.0.1:1"}}};
  }

  static std::vector<std::string> command() { return {DULY_BINARY_DIR "/duly", "demo"}; }

  [[nodiscard]] bool is_clean() const { return std::filesystem::is_empty(folder_); }

  /// Processes that have our folder in their command line: its Redis and its workers.
  [[nodiscard]] int processes() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      const std::string line(std::istreambuf_iterator<char>(file), {});
      if (line.find(folder_) != std::string::npos) ++count;
    }
    return count;
  }

  std::string folder_ = (std::filesystem::temp_directory_path() / "duly-demo-test-XXXXXX").string();
};

TEST_F(Demo, KeepsItsPromisesWhileAWorkerIsKilled) {
  std::vector<std::string> arguments = command();
  arguments.emplace_back("--json");

  const ProgramEnd end = run_program(arguments, options());

  ASSERT_EQ(end.status, 0) << end.out << end.err;
  const Json found = Json::parse(end.out);
  EXPECT_EQ(found.at("ok"), true);
  EXPECT_GE(found.at("jobs"), 505);
  EXPECT_EQ(found.at("run"), found.at("jobs"));
  EXPECT_EQ(found.at("early"), 0);
  EXPECT_EQ(found.at("lost"), 0);
  EXPECT_EQ(found.at("doubled"), 0);
  EXPECT_EQ(found.at("dead"), 1);
  EXPECT_GE(found.at("retried"), 2);
  EXPECT_GT(found.at("held_at_kill"), 0);
  EXPECT_GT(found.at("recovered"), 0);
  EXPECT_EQ(found.at("lost_leases"), found.at("recovered"));
  EXPECT_GT(found.at("lateness_p50_ms"), 0.0);
  EXPECT_LE(found.at("lateness_p50_ms"), found.at("lateness_p99_ms"));
  EXPECT_LE(found.at("lateness_p99_ms"), found.at("lateness_max_ms"));
  EXPECT_TRUE(is_clean());
  EXPECT_EQ(processes(), 0);
}

TEST_F(Demo, LeavesNothingBehindWhenInterrupted) {
  Program demo(command(), options());
  ASSERT_TRUE(eventually([&] { return demo.out().find("attempt 1 failed") != std::string::npos; },
                         std::chrono::seconds{20}))
      << demo.out() << demo.err();
  EXPECT_GE(processes(), 3);

  demo.signal(SIGINT);
  const ProgramEnd end = demo.wait();

  EXPECT_EQ(end.status, 1);
  EXPECT_NE(end.out.find("interrupted"), std::string::npos);
  EXPECT_TRUE(is_clean());
  EXPECT_TRUE(eventually([this] { return processes() == 0; }));
}

TEST_F(Demo, LeavesNoProcessBehindWhenKilled) {
  Program demo(command(), options());
  ASSERT_TRUE(eventually([&] { return demo.out().find("attempt 1 failed") != std::string::npos; },
                         std::chrono::seconds{20}))
      << demo.out() << demo.err();
  EXPECT_GE(processes(), 3);

  demo.signal(SIGKILL);
  EXPECT_EQ(demo.wait().signal, SIGKILL);

  EXPECT_TRUE(eventually([this] { return processes() == 0; }));
}

}  // namespace
}  // namespace duly::testing
