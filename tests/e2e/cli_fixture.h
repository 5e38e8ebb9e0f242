#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/redis_server.h"

namespace duly::testing {

/// The binary, beside a Redis of its own.
class CliTest : public ::testing::Test {
 protected:
  using Json = nlohmann::json;

  static std::string binary() { return DULY_BINARY_DIR "/duly"; }

  /// The whole command line of `duly ...` on this Redis.
  [[nodiscard]] std::vector<std::string> line(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all{binary(), "--redis", redis_.url()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }

  [[nodiscard]] ProgramEnd duly(const std::vector<std::string>& arguments,
                                const std::string& input = {}) const {
    return run_program(line(arguments), {.input = input});
  }

  /// Of a command that must succeed: its JSON lines.
  [[nodiscard]] std::vector<Json> json_lines(std::vector<std::string> arguments,
                                             const std::string& input = {}) const {
    arguments.insert(arguments.begin(), "--json");
    const ProgramEnd end = duly(arguments, input);
    EXPECT_EQ(end.status, 0) << end.err;
    return parse_lines(end.out);
  }

  /// The one of them.
  Json json(const std::vector<std::string>& arguments, const std::string& input = {}) const {
    const auto lines = json_lines(arguments, input);
    EXPECT_EQ(lines.size(), 1U);
    return lines.empty() ? Json::object() : lines.front();
  }

  static std::vector<Json> parse_lines(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string one; std::getline(stream, one);) lines.push_back(Json::parse(one));
    return lines;
  }

  /// The code that a failed command gave with --json.
  static std::string code_of(const ProgramEnd& end) {
    return Json::parse(end.err).at("error").at("code");
  }

  /// A put job's id.
  std::string put(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "put");
    return json(arguments).at("id");
  }

  RedisServer redis_;
};

}  // namespace duly::testing
