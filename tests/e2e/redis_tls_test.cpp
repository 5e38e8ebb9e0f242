#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <vector>

#include "duly/error.h"
#include "tests/e2e/redis_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/redis_server.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class RedisTls : public ::testing::Test {
 protected:
  [[nodiscard]] RedisServerOptions server_with(const Certificate& certificate) const {
    return {.tls_certificate = certificate.file, .tls_key = certificate.key, .tls_ca = ca_.file};
  }
  [[nodiscard]] RedisServerOptions server_at(const std::string& alt_names) const {
    return server_with(files_.signed_by(ca_, "server", alt_names));
  }

  Certificates files_;
  Certificate ca_ = files_.authority("duly-test-ca");
};

TEST_F(RedisTls, SpeaksToTheHostThatTheCertificateNames) {
  RedisServer server(server_at("DNS:localhost,IP:127.0.0.1"));
  for (const char* host : {"localhost", "127.0.0.1"}) {
    OneLink link("rediss://" + std::string(host) + ":" + std::to_string(server.tls_port()),
                 {.ca_file = ca_.file});
    EXPECT_EQ(link.text_of({"PING"}), "PONG") << host;
  }
}

TEST_F(RedisTls, RefusesTheCertificateOfAnotherHost) {
  RedisServer server(server_at("DNS:other.example"));
  OneLink by_address(server.tls_url(), {.ca_file = ca_.file});
  OneLink by_name("rediss://localhost:" + std::to_string(server.tls_port()), {.ca_file = ca_.file});

  const Ending to_address = by_address.ask({"PING"}, 500ms);
  const Ending to_name = by_name.ask({"PING"}, 500ms);

  EXPECT_EQ(word_of(to_address.kind), "not_done");
  EXPECT_NE(to_address.reason.find("server certificate: IP address mismatch"), std::string::npos)
      << to_address.reason;
  EXPECT_EQ(word_of(to_name.kind), "not_done");
  EXPECT_NE(to_name.reason.find("server certificate: hostname mismatch"), std::string::npos)
      << to_name.reason;
}

TEST_F(RedisTls, RefusesAnUnknownAuthority) {
  RedisServer server(server_at("IP:127.0.0.1"));
  OneLink other(server.tls_url(), {.ca_file = files_.authority("another-ca").file});
  OneLink system(server.tls_url());

  for (OneLink* link : {&other, &system}) {
    const Ending ending = link->ask({"PING"}, 3s);
    EXPECT_EQ(word_of(ending.kind), "not_done");
    EXPECT_NE(ending.reason.find("server certificate: "), std::string::npos) << ending.reason;
  }
}

TEST_F(RedisTls, ShowsItsOwnCertificateWhenAsked) {
  RedisServerOptions options = server_at("IP:127.0.0.1");
  options.tls_asks_clients = true;
  RedisServer server(options);
  const Certificate own = files_.signed_by(ca_, "client", "DNS:client");
  OneLink with(server.tls_url(),
               {.ca_file = ca_.file, .certificate_file = own.file, .key_file = own.key});
  OneLink without(server.tls_url(), {.ca_file = ca_.file});

  EXPECT_EQ(with.text_of({"PING"}), "PONG");
  const Ending refused = without.ask({"PING"}, 500ms);
  EXPECT_EQ(word_of(refused.kind), "not_done");
  // The server's alert may be lost when it closes with our first bytes unread.
  EXPECT_NE(refused.reason.find("connection ended"), std::string::npos) << refused.reason;
}

TEST_F(RedisTls, NamesAFileThatCannotBeRead) {
  const auto refusal = [](LinkOptions options) -> std::string {
    try {
      OneLink link("rediss://127.0.0.1:1", std::move(options));
      return "it started";
    } catch (const Error& error) {
      return std::string(to_string(error.code())) + ": " + error.what();
    }
  };
  const auto missing = files_.folder() / "missing.pem";
  const auto nonsense = files_.folder() / "nonsense.pem";
  std::ofstream(nonsense) << "nonsense";

  EXPECT_EQ(refusal({.ca_file = missing}).find("invalid_argument: CA file: " + missing.string()),
            0U);
  EXPECT_EQ(refusal({.certificate_file = nonsense})
                .find("invalid_argument: certificate file: " + nonsense.string()),
            0U);
  EXPECT_EQ(refusal({.certificate_file = ca_.file, .key_file = missing})
                .find("invalid_argument: key file: " + missing.string()),
            0U);
}

TEST_F(RedisTls, CarriesManyRequestsAtOnce) {
  RedisServer server(server_at("IP:127.0.0.1"));
  OneLink link(server.tls_url(), {.ca_file = ca_.file});
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < 500; ++i)
    bodies.emplace_back(i % 20 == 0 ? 50'000 + i : i, static_cast<char>(i));

  std::vector<std::future<Ending>> replies;
  for (const std::string& body : bodies) replies.push_back(link.send({"ECHO", body}));

  for (std::size_t i = 0; i < bodies.size(); ++i)
    EXPECT_TRUE(replies[i].get().reply.text == bodies[i]) << i;
}

TEST_F(RedisTls, ComesBackAfterARestart) {
  RedisServer server(server_at("IP:127.0.0.1"));
  OneLink link(server.tls_url(), {.ca_file = ca_.file});
  ASSERT_EQ(link.text_of({"PING"}), "PONG");
  auto blocked = link.send({"BLPOP", "nothing", "0"}, 20s);
  ASSERT_TRUE(eventually(
      [&] { return server.cli("CLIENT", "LIST").find("cmd=blpop") != std::string::npos; }));

  server.stop(SIGKILL);
  EXPECT_EQ(word_of(blocked.get().kind), "unknown");
  server.start();

  EXPECT_EQ(link.text_of({"PING"}), "PONG");
}

}  // namespace
}  // namespace duly::testing
