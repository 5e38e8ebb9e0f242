#include "src/redis/reaction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "src/redis/retry.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using redis::Reaction;
using redis::Reply;
using redis::Trouble;

Reply error(std::string text) { return {.kind = Reply::Kind::error, .text = std::move(text)}; }

std::string name_of(const std::string& text) {
  return std::string(redis::row_of(redis::trouble_of(error(text))).name);
}

struct Case {
  const char* text;
  const char* name;
};

class ReactionOf : public ::testing::TestWithParam<Case> {};

TEST_P(ReactionOf, AnErrorReplyIsFoundInTheTable) {
  EXPECT_EQ(name_of(GetParam().text), GetParam().name) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Plain, ReactionOf,
    ::testing::Values(
        Case{"LOADING Redis is loading the dataset in memory", "LOADING"},
        Case{"BUSY Redis is busy running a script. You can only call FUNCTION KILL.", "BUSY"},
        Case{"TRYAGAIN Multiple keys request during rehashing of slot", "TRYAGAIN"},
        Case{"CLUSTERDOWN The cluster is down", "CLUSTERDOWN"},
        Case{"MASTERDOWN Link with MASTER is down", "MASTERDOWN"},
        Case{"READONLY You can't write against a read only replica.", "READONLY"},
        Case{"ERR max number of clients reached", "ERR max number of clients"},
        Case{"ERR Function not found", "ERR Function not found"},
        Case{"NOSCRIPT No matching script. Please use EVAL.", "NOSCRIPT"},
        Case{"ERR unknown command 'FCALL', with args beginning with: 'READONLY' ",
             "ERR unknown command"},
        Case{"NOPERM this user has no permissions to run the 'fcall' command", "NOPERM"},
        Case{"NOAUTH Authentication required.", "NOAUTH"},
        Case{"WRONGPASS invalid username-password pair or user is disabled.", "WRONGPASS"},
        Case{"MISCONF Redis is configured to save RDB snapshots", "MISCONF"},
        Case{"NOREPLICAS Not enough good replicas to write.", "NOREPLICAS"},
        Case{"OOM command not allowed when used memory > 'maxmemory'.", "OOM"},
        Case{"ERR Protocol error: invalid bulk length", "ERR Protocol error"},
        Case{"DULY_INVALID id: empty, expected READONLY", "DULY_INVALID"},
        Case{"BUSYKEY Target key name already exists.", "any other error"},
        Case{"ERR syntax error", "any other error"}, Case{"", "any other error"}));

// As Redis 7.0, 7.2 and 6.2 wrap what a command inside a script meets.
INSTANTIATE_TEST_SUITE_P(
    InsideAScript, ReactionOf,
    ::testing::Values(
        Case{"READONLY You can't write against a read only replica. script: caeee, on "
             "@user_script:1.",
             "READONLY"},
        Case{"OOM command not allowed when used memory > 'maxmemory'. script: duly_put, on "
             "@user_function:9.",
             "OOM"},
        Case{"ERR The user executing the script can't run this command or subcommand script: w, on "
             "@user_function:2.",
             "NOPERM"},
        Case{"ERR The user executing the script can't access at least one of the keys mentioned in "
             "the command arguments script: 6dee, on @user_script:1.",
             "NOPERM"},
        Case{"ERR ACL failure in script: User u has no permissions to access the 'b' key script: "
             "w, on @user_function:2.",
             "NOPERM"},
        Case{"ERR Unknown Redis command called from script script: u, on @user_function:5.",
             "ERR unknown command"},
        Case{"ERR Error running script (call to f_caeeee): @user_script:1: -READONLY You can't "
             "write against a read only replica.",
             "READONLY"},
        Case{"ERR Error running script (call to f_caeeee): @user_script:1: @user_script: 1: "
             "-MISCONF Redis is configured to save RDB snapshots",
             "MISCONF"},
        Case{"ERR Error running script (call to f_caeeee): @user_script:12: -OOM command not "
             "allowed when used memory > 'maxmemory'.",
             "OOM"},
        Case{"ERR Error running script (call to f_caeeee): @user_script:12: @user_script: 12: The "
             "user executing the script can't run this command or subcommand",
             "NOPERM"},
        Case{"ERR Error running script (call to f_caeeee): @user_script:3: @user_script: 3: "
             "Unknown Redis command called from Lua script",
             "any other error"},
        Case{"ERR Error running script (call to f_caeeee)", "any other error"},
        Case{"ERR value READONLY is not an integer", "any other error"}));

// The rows of the table under the heading, as "name | reaction | code".
std::vector<std::string> documented(const std::string& page) {
  std::ifstream file(DULY_SOURCE_DIR "/" + page);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, '|');) {
      std::erase(cell, '`');
      const std::size_t begin = cell.find_first_not_of(' ');
      const std::size_t end = cell.find_last_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
    }
    const std::vector<std::string> reactions{"wait", "reconnect", "load", "end"};
    const bool is_row = cells.size() == 5 &&
                        std::find(reactions.begin(), reactions.end(), cells[2]) != reactions.end();
    if (is_row) rows.push_back(cells[1] + " | " + cells[2] + " | " + cells[3]);
  }
  return rows;
}

TEST(ReactionTable, IsTheOneInTheDocumentation) {
  std::vector<std::string> ours;
  for (const auto& row : redis::trouble_table()) {
    if (row.trouble == Trouble::invalid) continue;  // of duly's own making: no trouble with Redis
    ours.push_back(std::string(row.name) + " | " + std::string(to_string(row.reaction)) + " | " +
                   std::string(to_string(row.code)));
  }
  EXPECT_EQ(documented("docs/operations.md"), ours);
  EXPECT_EQ(documented("docs/zh/operations.md"), ours);
}

TEST(Outage, SaysAReasonThatKeepsComingOnce) {
  std::vector<std::string> said;
  redis::Outage outage([&](LogLevel, const std::string& text) { said.push_back(text); }, "redis");
  const auto begin = redis::Outage::Time{} + 1h;

  for (int second = 0; second < 300; ++second) {
    outage.failed("READONLY", begin + std::chrono::seconds{second});
    outage.over();
  }

  EXPECT_EQ(said, (std::vector<std::string>{"redis: READONLY", "redis: connected again"}));
}

TEST(Outage, SaysAReasonAgainAfterAQuietMinute) {
  std::vector<std::string> said;
  redis::Outage outage([&](LogLevel, const std::string& text) { said.push_back(text); }, "redis");
  const auto begin = redis::Outage::Time{} + 1h;
  outage.failed("closed", begin);
  outage.over();
  outage.failed("refused", begin + 1s);
  outage.over();

  outage.failed("closed", begin + 60s);

  EXPECT_EQ(said,
            (std::vector<std::string>{"redis: closed", "redis: connected again", "redis: refused",
                                      "redis: connected again", "redis: closed"}));
}

}  // namespace
}  // namespace duly::testing
