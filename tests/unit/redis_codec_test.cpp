#include "src/redis/codec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace duly::redis {
namespace {

using Next = Codec::Next;

Reply only_reply(std::string_view bytes) {
  Codec codec;
  codec.feed(bytes);
  Reply reply;
  EXPECT_EQ(codec.next(reply), Next::reply);
  Reply none;
  EXPECT_EQ(codec.next(none), Next::need_more);
  return reply;
}

Next end_of(std::string_view bytes) {
  Codec codec;
  codec.feed(bytes);
  Reply reply;
  return codec.next(reply);
}

/// "[text:a, nil]": all there is to a reply.
std::string describe(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::nil:
      return "nil";
    case Reply::Kind::integer:
      return "integer:" + std::to_string(reply.integer);
    case Reply::Kind::text:
      return "text:" + reply.text;
    case Reply::Kind::status:
      return "status:" + reply.text;
    case Reply::Kind::error:
      return "error:" + reply.text;
    case Reply::Kind::array:
      break;
  }
  std::string text = "[";
  for (const Reply& item : reply.items) text += (text.size() > 1 ? ", " : "") + describe(item);
  return text + "]";
}

TEST(RedisCodec, ReadsEveryKindOfReply) {
  EXPECT_EQ(describe(only_reply("+OK\r\n")), "status:OK");
  EXPECT_EQ(describe(only_reply("-ERR no\r\n")), "error:ERR no");
  EXPECT_EQ(describe(only_reply(":-9223372036854775808\r\n")), "integer:-9223372036854775808");
  EXPECT_EQ(describe(only_reply("$0\r\n\r\n")), "text:");
  EXPECT_EQ(describe(only_reply("$-1\r\n")), "nil");
  EXPECT_EQ(describe(only_reply("*-1\r\n")), "nil");
  EXPECT_EQ(describe(only_reply("*0\r\n")), "[]");
}

TEST(RedisCodec, ReadsNestedArraysWithErrorsAndNilsInside) {
  EXPECT_EQ(describe(only_reply("*3\r\n*2\r\n$1\r\na\r\n$-1\r\n-ERR x\r\n*1\r\n*1\r\n:7\r\n")),
            "[[text:a, nil], error:ERR x, [[integer:7]]]");
}

TEST(RedisCodec, KeepsBinaryText) {
  using std::string_literals::operator""s;
  EXPECT_EQ(only_reply("$5\r\n\0\r\n\xff!\r\n"s).text, "\0\r\n\xff!"s);
}

TEST(RedisCodec, WaitsForTheRestWhereverTheBytesAreCut) {
  const std::string bytes = "*2\r\n$5\r\nhello\r\n*2\r\n:12\r\n$-1\r\n+next\r\n";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Codec codec;
    std::string seen;
    for (const std::string& part : {bytes.substr(0, cut), bytes.substr(cut)}) {
      codec.feed(part);
      Reply reply;
      while (codec.next(reply) == Next::reply) seen += describe(reply) + ";";
    }
    EXPECT_EQ(seen, "[text:hello, [integer:12, nil]];status:next;") << "cut at " << cut;
  }
}

TEST(RedisCodec, PopsTheRepliesOfOnePieceInOrder) {
  Codec codec;
  codec.feed(":1\r\n*1\r\n:2\r\n$1\r\n3\r\n$-1\r\n");
  std::vector<std::string> seen;
  Reply reply;
  while (codec.next(reply) == Next::reply) seen.push_back(describe(reply));
  EXPECT_EQ(seen, (std::vector<std::string>{"integer:1", "[integer:2]", "text:3", "nil"}));
}

TEST(RedisCodec, HasNothingOfOneReplyLeftInTheNext) {
  Codec codec;
  Reply reply;
  codec.feed("$3\r\nold\r\n");
  ASSERT_EQ(codec.next(reply), Next::reply);
  codec.feed(":5\r\n");
  ASSERT_EQ(codec.next(reply), Next::reply);
  EXPECT_EQ(reply.text, "");
  EXPECT_TRUE(reply.items.empty());
}

TEST(RedisCodec, RefusesWhatIsNoReply) {
  EXPECT_EQ(end_of("HTTP/1.1 400 Bad Request\r\n"), Next::broken);
  EXPECT_EQ(end_of("*1\r\n!\r\n"), Next::broken);
  EXPECT_EQ(end_of(":nonsense\r\n"), Next::broken);
}

TEST(RedisCodec, RefusesAnArrayLongerThanMemoryWithoutMakingIt) {
  EXPECT_EQ(end_of("*2000000000\r\n"), Next::broken);
  EXPECT_EQ(end_of("*2\r\n:1\r\n*1000001\r\n"), Next::broken);
}

TEST(RedisCodec, StaysBrokenOnceItIs) {
  Codec codec;
  Reply reply;
  codec.feed("*1\r\n?\r\n");
  EXPECT_EQ(codec.next(reply), Next::broken);
  codec.feed("+OK\r\n");
  EXPECT_EQ(codec.next(reply), Next::broken);
}

TEST(RedisReply, ErrorWordIsTheFirstWordOfAnErrorOnly) {
  EXPECT_EQ(only_reply("-NOAUTH Authentication required.\r\n").error_word(), "NOAUTH");
  EXPECT_EQ(only_reply("-DULY_INVALID: delay\r\n").error_word(), "DULY_INVALID");
  EXPECT_EQ(only_reply("-LOADING\r\n").error_word(), "LOADING");
  EXPECT_EQ(only_reply("+NOAUTH no\r\n").error_word(), "");
}

}  // namespace
}  // namespace duly::redis
