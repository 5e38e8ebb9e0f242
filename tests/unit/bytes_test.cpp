#include "src/core/bytes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/core/in_quotes.h"

namespace duly::core {
namespace {

std::string all_bytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}

// 1, 2, 3 and 4 bytes: a, e acute, euro, clef.
const std::string kMixed = "a\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E";

TEST(Utf8, TakesCharactersOfEveryLength) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(kMixed));
  EXPECT_TRUE(is_utf8(std::string("\0", 1)));
  EXPECT_TRUE(is_utf8("\xED\x9F\xBF"));      // U+D7FF, the last before the surrogates.
  EXPECT_TRUE(is_utf8("\xEE\x80\x80"));      // U+E000, the first after them.
  EXPECT_TRUE(is_utf8("\xF4\x8F\xBF\xBF"));  // U+10FFFF.
}

TEST(Utf8, B22RefusesSurrogatesOverlongFormsAndStrayBytes) {
  const std::vector<std::string> wrong{
      "\xED\xA0\x80",     "\xED\xBF\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF",
      "\xF0\x8F\xBF\xBF", "\x80",         "\xBF",     "\xC3",     "\xE2\x82",
      "\xF0\x9D\x84",     "\xC3(",        "\xFF",     "\xFE",     "\xF4\x90\x80\x80",
      "\xF5\x80\x80\x80", "\xE2(\xAC",    "ok\x80",
  };
  for (const std::string& bytes : wrong) EXPECT_FALSE(is_utf8(bytes)) << printable(bytes);
  EXPECT_FALSE(is_utf8(all_bytes()));
}

TEST(Utf8, B22ACutNeverSplitsACharacter) {
  const std::vector<std::size_t> front{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  const std::vector<std::size_t> back{0, 0, 0, 0, 4, 4, 4, 7, 7, 9, 10, 10};
  for (std::size_t most = 0; most < front.size(); ++most) {
    EXPECT_EQ(cut_utf8(kMixed, most), kMixed.substr(0, front[most])) << most;
    EXPECT_EQ(tail_utf8(kMixed, most), kMixed.substr(kMixed.size() - back[most])) << most;
  }
}

TEST(Utf8, B22ACutOfBytesThatAreNoTextKeepsAllItMay) {
  const std::string stray(1024 * 1024, '\x80');
  EXPECT_EQ(cut_utf8(stray, 4096).size(), 4096U);
  EXPECT_EQ(tail_utf8(stray, 4096).size(), 4096U);
  EXPECT_EQ(cut_utf8("\xED\xA0\x80", 1), "\xED");
  EXPECT_EQ(tail_utf8("\xED\xA0\x80", 2), "\xA0\x80");
  EXPECT_EQ(cut_utf8(all_bytes(), 200), all_bytes().substr(0, 200));
}

TEST(Printable, B22ControlCharactersAndBytesThatAreNoTextAreEscaped) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\x0Dd");
  EXPECT_EQ(printable(std::string("\0\x1B[2J\x7F", 6)), "\\x00\\x1B[2J\\x7F");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xED\\xA0\\x80");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xC2\\x9B");  // CSI as one character.
  EXPECT_EQ(printable(kMixed), kMixed);
  EXPECT_EQ(printable("\xC3"), "\\xC3");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, B22AnyBytesBecomeOneLineOfText) {
  const std::string text = printable(all_bytes());

  EXPECT_TRUE(is_utf8(text));
  for (const char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << static_cast<int>(c);
}

TEST(InQuotes, CutsLongNamesBetweenCharacters) {
  EXPECT_EQ(in_quotes("a b"), "\"a b\"");
  EXPECT_EQ(in_quotes("a\nb"), "\"a\\nb\"");
  EXPECT_EQ(in_quotes(std::string(60, 'a')), '"' + std::string(60, 'a') + '"');
  EXPECT_EQ(in_quotes(std::string(59, 'a') + "\xC3\xA9"), '"' + std::string(59, 'a') + "...\"");
}

TEST(Base64, EncodesTheExamplesOfItsRfc) {
  const std::vector<std::pair<std::string, std::string>> pairs{{"", ""},
                                                               {"f", "Zg=="},
                                                               {"fo", "Zm8="},
                                                               {"foo", "Zm9v"},
                                                               {"foob", "Zm9vYg=="},
                                                               {"fooba", "Zm9vYmE="},
                                                               {"foobar", "Zm9vYmFy"},
                                                               {"\xFB\xFF", "+/8="}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text), bytes);
  }
}

TEST(Base64, B22EveryByteSurvives) {
  const std::string bytes = all_bytes();
  for (std::size_t from = 0; from < 4; ++from) {
    const std::string part = bytes.substr(from);
    EXPECT_EQ(base64_decode(base64_encode(part)), part);
  }
  const std::string large(1024 * 1024, '\x80');
  EXPECT_EQ(base64_decode(base64_encode(large)), large);
  EXPECT_EQ(base64_decode(base64_encode("\xED\xA0\x80")), "\xED\xA0\x80");
}

TEST(Base64, RefusesWhatNoEncoderWrites) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zm9", "====", "=", "Z===", "Zg==Zg==", "Zm=v",
                           "Zm9v\n", "Zm 9", "Zm-_", "Zh==", "Zm9=", "\xC3\xA9\xC3\xA9"}) {
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace duly::core
