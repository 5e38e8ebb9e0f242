#include "src/redis/command.h"

#include <gtest/gtest.h>

#include <limits>

namespace duly::redis {
namespace {

std::string wire(const Command& command) { return command.head() + command.body(); }

TEST(RedisCommand, IsAnArrayOfBulkStrings) {
  EXPECT_EQ(wire(Command{"SET", "key", "value"}),
            "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n");
}

TEST(RedisCommand, KeepsEmptyAndBinaryArguments) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(wire(Command{"", "a\0\r\n"sv}), "*2\r\n$0\r\n\r\n$4\r\na\0\r\n\r\n"sv);
}

TEST(RedisCommand, WritesNumbersInDecimal) {
  Command command{"X"};
  command.add(std::int64_t{0}).add(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(wire(command), "*3\r\n$1\r\nX\r\n$1\r\n0\r\n$20\r\n-9223372036854775808\r\n");
}

TEST(RedisCommand, TakesTheArgumentsOfAnother) {
  Command command{"DEL"};
  command.append(Command{"a", "b"}).append(Command{});
  EXPECT_EQ(command.count(), 3U);
  EXPECT_EQ(wire(command), wire(Command{"DEL", "a", "b"}));
}

TEST(RedisCommand, CountsAtLeastTheBytesThatLeave) {
  Command command;
  for (int i = 0; i < 12'345; ++i) command.add("x");
  EXPECT_GE(command.bytes(), wire(command).size());
}

}  // namespace
}  // namespace duly::redis
