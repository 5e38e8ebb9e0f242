#include "src/redis/url.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "duly/error.h"

namespace duly::redis {
namespace {

const std::string kShapes =
    "expected redis://host:port/db, rediss://host:port/db or unix:///path?db=n";

std::string refusal(const std::string& text) {
  try {
    return "read as " + parse_url(text).address();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
}

TEST(Url, ReadsHostPortAndDatabase) {
  const Url url = parse_url("redis://example.org:7000/3");
  EXPECT_FALSE(url.is_tls);
  EXPECT_EQ(url.host, "example.org");
  EXPECT_EQ(url.port, 7000);
  EXPECT_EQ(url.database, 3U);
  EXPECT_EQ(url.user, "");
  EXPECT_EQ(url.password, std::nullopt);
  EXPECT_EQ(url.socket_path, "");
}

TEST(Url, DefaultsAreTheUsualPortAndDatabaseZero) {
  for (const char* text : {"redis://localhost", "redis://localhost/", "REDIS://localhost"}) {
    EXPECT_EQ(parse_url(text).address(), "redis://localhost:6379/0") << text;
  }
}

TEST(Url, RedissIsTls) {
  const Url url = parse_url("rediss://u:p@redis-1.my_net:6380/1");
  EXPECT_TRUE(url.is_tls);
  EXPECT_EQ(url.address(), "rediss://redis-1.my_net:6380/1");
}

struct Login {
  std::string text;
  std::string user;
  std::optional<std::string> password;
};

TEST(Url, B34UsersAndPasswordsWithSpecialCharacters) {
  const std::vector<Login> logins{
      {"", "", std::nullopt},
      {"@", "", std::nullopt},
      {"me@", "me", std::nullopt},
      {":@", "", ""},
      {"me:@", "me", ""},
      {":p@ss@", "", "p@ss"},
      {":p%40ss@", "", "p@ss"},
      {"a%3Ab:c@", "a:b", "c"},
      {"me:a:b@", "me", "a:b"},
      {":x/y#z@", "", "x/y#z"},
      {":x%2Fy%23z@", "", "x/y#z"},
      {"x/y#z:w?@", "x/y#z", "w?"},
      {":100%25@", "", "100%"},
      {":a+b=@", "", "a+b="},
      {"a+b=:c@", "a+b=", "c"},
      {":[@", "", "["},
      {"[:]@", "[", "]"},
      {":%00%ff@", "", std::string("\0\xFF", 2)},
      {":@@@", "", "@@"},
      {"p@ss:w@", "p@ss", "w"},
      {":\xC3\xA9 @", "", "\xC3\xA9 "},
  };
  for (const Login& login : logins) {
    const Url network = parse_url("redis://" + login.text + "[::1]:7000/15");
    EXPECT_EQ(network.user, login.user) << login.text;
    EXPECT_EQ(network.password, login.password) << login.text;
    EXPECT_EQ(network.address(), "redis://[::1]:7000/15") << login.text;

    const Url socket = parse_url("unix://" + login.text + "/run/r.sock?db=2");
    EXPECT_EQ(socket.user, login.user) << login.text;
    EXPECT_EQ(socket.password, login.password) << login.text;
    EXPECT_EQ(socket.address(), "unix:///run/r.sock?db=2") << login.text;
  }
}

TEST(Url, B34BadEscapesAreNamedAndNotShown) {
  const std::string rule =
      " with a bad %-escape, expected two hexadecimal digits after each % (a "
      "plain % is %25)";
  for (const std::string wrong : {"100%", "%", "%4", "%zz", "%4g", "%%41", "s3cret% "}) {
    EXPECT_EQ(refusal("redis://me:" + wrong + "@h"), "redis url: password" + rule);
    EXPECT_EQ(refusal("redis://" + wrong + ":p@h"), "redis url: user" + rule);
    EXPECT_EQ(refusal("unix:///run/" + wrong), "redis url: socket path" + rule);
  }
}

TEST(Url, B34Ipv6HostsHaveBrackets) {
  EXPECT_EQ(parse_url("redis://[::1]").host, "::1");
  EXPECT_EQ(parse_url("redis://[2001:db8::7]:1/0").address(), "redis://[2001:db8::7]:1/0");
  EXPECT_EQ(parse_url("redis://[::ffff:127.0.0.1]").host, "::ffff:127.0.0.1");
  EXPECT_EQ(parse_url("redis://[fe80::1%25eth0]").host, "fe80::1%eth0");
  EXPECT_EQ(parse_url("redis://[fe80::1%eth0]").address(), "redis://[fe80::1%25eth0]:6379/0");

  const std::string no_brackets =
      "redis url: more than one : in the host, expected an IPv6 address in brackets, as in "
      "[::1]:6379";
  EXPECT_EQ(refusal("redis://::1"), no_brackets);
  EXPECT_EQ(refusal("redis://me:secret@::1/0"), no_brackets);
  EXPECT_EQ(refusal("redis://2001:db8::7:6379"), no_brackets);
  for (const char* text :
       {"redis://[]", "redis://[1.2.3.4]", "redis://[::1::]", "redis://[host]"}) {
    EXPECT_EQ(refusal(text),
              "redis url: host in brackets that is no IPv6 address, expected for example [::1]");
  }
  EXPECT_EQ(refusal(std::string("redis://[::1\0]", 14)),
            "redis url: host in brackets that is no IPv6 address, expected for example [::1]");
  EXPECT_EQ(
      refusal("redis://[fe80::1%25]"),
      "redis url: IPv6 zone that is no interface name, expected for example [fe80::1%25eth0]");
  EXPECT_EQ(refusal("redis://[::1"), "redis url: host with [ but no ], expected [IPv6]:port");
  EXPECT_EQ(refusal("redis://[::1]6379"),
            "redis url: text between ] and the port, expected [IPv6]:port");
}

TEST(Url, B34UnixPaths) {
  EXPECT_EQ(parse_url("unix:///run/my%20redis.sock").socket_path, "/run/my redis.sock");
  EXPECT_EQ(parse_url("unix:///run/my redis.sock").socket_path, "/run/my redis.sock");
  EXPECT_EQ(parse_url("unix:///run/a+b@c.sock").socket_path, "/run/a+b@c.sock");
  EXPECT_EQ(parse_url("unix:///run/a@/b.sock").socket_path, "/run/a@/b.sock");
  EXPECT_EQ(parse_url("unix:///run/r.sock?db=7").database, 7U);
  EXPECT_EQ(parse_url("unix:///run/r.sock").host, "");
  const std::string longest = '/' + std::string(106, 'x');
  EXPECT_EQ(parse_url("unix://" + longest).socket_path, longest);

  EXPECT_EQ(refusal("unix://" + longest + "x"),
            "redis url: socket path of 108 bytes, expected at most 107");
  const std::string relative =
      "redis url: socket path that does not begin with /, expected unix:///path?db=n";
  for (const char* text : {"unix://", "unix://run/r.sock", "unix://me:secret@r.sock"}) {
    EXPECT_EQ(refusal(text), relative);
  }
  EXPECT_EQ(refusal("unix:///a%00b"),
            "redis url: socket path with a zero byte, expected a path without one");
  EXPECT_EQ(refusal("unix:///a#b"), "redis url: # in the socket path, expected it written as %23");
  for (const char* text : {"unix:///a?", "unix:///a?x=1", "unix:///a?DB=1"}) {
    EXPECT_EQ(refusal(text), "redis url: unknown option after ?, expected ?db=n");
  }
}

TEST(Url, AnAddressReadsBackAsTheSamePlace) {
  for (const std::string text :
       {"unix:///run/my%20redis.sock", "unix:///a%25b%3Fc%23d%0A%C3%A9?db=3", "unix:///a@b+c",
        "redis://[::1]:6379/0", "redis://[fe80::1%25eth0]:6379/0", "rediss://h:1/2147483647"}) {
    EXPECT_EQ(parse_url(text).address(), text);
  }
}

TEST(Url, B34DatabaseIsANumber) {
  EXPECT_EQ(parse_url("redis://h/15").database, 15U);
  EXPECT_EQ(parse_url("redis://h/16").database, 16U);
  EXPECT_EQ(parse_url("redis://h/2147483647").database, 2'147'483'647U);
  for (const std::string wrong : {"2147483648", "4294967296", "18446744073709551616", "-1", "+1",
                                  "x", "1x", " 1", "1/2", "0x1", "1.0", "%31", "/"}) {
    EXPECT_EQ(refusal("redis://me:p@h/" + wrong),
              "redis url: database that is not a number in range, expected 0 .. 2147483647");
    EXPECT_EQ(refusal("unix:///r.sock?db=" + wrong),
              "redis url: database that is not a number in range, expected 0 .. 2147483647");
  }
  EXPECT_EQ(refusal("unix:///r.sock?db="),
            "redis url: database that is not a number in range, expected 0 .. 2147483647");
}

TEST(Url, HostAndPortAreChecked) {
  EXPECT_EQ(parse_url("redis://h:1").port, 1);
  EXPECT_EQ(parse_url("redis://h:65535").port, 65'535);
  for (const std::string wrong : {"", "0", "65536", "-1", "+1", "x", " 1", "6379x"}) {
    EXPECT_EQ(refusal("redis://h:" + wrong),
              "redis url: port that is not a number in range, expected 1 .. 65535");
  }
  for (const char* text : {"redis://", "redis:///0", "redis://:6379", "redis://me:secret@"}) {
    EXPECT_EQ(refusal(text), "redis url: empty host, " + kShapes);
  }
  for (const char* text : {"redis://a b", "redis://a%20b", "redis://a\nb", "redis://caf\xC3\xA9"}) {
    EXPECT_EQ(refusal(text),
              "redis url: host with a character that no host name has, expected A-Z a-z 0-9 . _ - "
              "or [IPv6]");
  }
  EXPECT_EQ(refusal("redis://h?db=1"),
            "redis url: ? or # after the host, expected host:port/db without options");
}

TEST(Url, UnknownSchemesNameTheKnownOnes) {
  for (const char* text : {"http://h", "tcp://h", "://h", "redis ://h", "s3cret://h"}) {
    EXPECT_EQ(refusal(text), "redis url: unknown scheme, " + kShapes);
  }
  for (const char* text : {"", "localhost", "localhost:6379", "unix:/run/r.sock", "redis:h"}) {
    EXPECT_EQ(refusal(text), "redis url: no scheme, " + kShapes);
  }
  for (const char* text : {"redis+cluster://a,b", "redis+sentinel://a/m", "rediss+cluster://a"}) {
    EXPECT_EQ(refusal(text),
              "redis url: Cluster and Sentinel, which are not supported yet, " + kShapes);
  }
}

TEST(Url, B34NoMessageHoldsThePassword) {
  const std::string secret = "S3cr3tPass";
  const std::vector<std::string> wrong{
      "redis://:" + secret,                // The @ and the host are missing.
      "redis://me:" + secret,              //
      "redis://me:" + secret + "/0",       //
      "redis://me:" + secret + "%@h",      //
      "redis://me:" + secret + "@h:x",     //
      "redis://me:" + secret + "@h/x",     //
      "redis://me:" + secret + "@::1",     //
      "redis://me:" + secret + "@",        //
      "redis://h/" + secret,               //
      "redis://h?password=" + secret,      //
      "unix://me:" + secret + "/r.sock",   //
      "unix://me:" + secret + "@r.sock",   //
      "unix:///r.sock?" + secret,          //
      "me:" + secret + "@h",               //
      secret + "://h",                     //
      "redis+cluster://:" + secret + "@h"  //
  };
  for (const std::string& text : wrong) {
    const std::string message = refusal(text);
    EXPECT_EQ(message.substr(0, 11), "redis url: ") << message;
    EXPECT_EQ(message.find(secret), std::string::npos) << message;
  }
  EXPECT_EQ(parse_url("redis://me:" + secret + "@h").address().find(secret), std::string::npos);
}

}  // namespace
}  // namespace duly::redis
