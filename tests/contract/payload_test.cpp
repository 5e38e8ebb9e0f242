#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

std::string every_byte() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

const std::vector<std::string>& payloads() {
  static const std::vector<std::string> all{
      "",
      every_byte(),
      std::string(1024UL * 1024, '\x80'),
      R"({"a":9007199254740993,"b":18446744073709551615,"c":1.10,"d":[],"e":{}})",
      std::string("\0\0\0", 3),
      "\xED\xA0\x80",
      "*3\r\n$3\r\nSET\r\n",
  };
  return all;
}

class EnginePayload : public EngineContract {};
INSTANTIATE_TEST_SUITE_P(Engines, EnginePayload, every_engine(), kind_name);

TEST_P(EnginePayload, B19_BytesComeOutAsTheyWentIn) {
  for (const std::string& payload : payloads()) {
    EXPECT_EQ(put_and_claim({.type = "t", .payload = payload}).payload, payload);
  }
}

TEST_P(EnginePayload, B19_BytesSurviveRetryDeathAndReplay) {
  NEEDS(has_leases);
  for (const std::string& payload : payloads()) {
    const JobId id = mail().put({.payload = payload, .delay = 1s, .max_attempts = 2}).id;
    clock().advance(1s);
    mail().fail(mail().claim_one(), {.error = payload.substr(0, 100), .retry_in = 0ms});
    const ActiveJob second = mail().claim_one();
    EXPECT_EQ(second.payload, payload);

    mail().fail(second);
    EXPECT_EQ(mail().info(id).payload, payload);
    mail().replay(id);

    const ActiveJob replayed = mail().claim_one();
    EXPECT_EQ(replayed.payload, payload);
    mail().ack(replayed);
  }
}

TEST_P(EnginePayload, BytesOfAnEditComeOutAsTheyWentIn) {
  NEEDS(has_changes);
  mail().put({.type = "t", .id = "a"_id, .max_attempts = 3});
  for (const std::string& payload : payloads()) {
    mail().edit("a"_id, payload);

    EXPECT_EQ(mail().info("a"_id).payload, payload);
  }
}

TEST_P(EnginePayload, ATypeOfEveryLengthComesOutAsItWentIn) {
  for (const std::size_t length : {0UL, 1UL, 127UL, Limits::type}) {
    const ActiveJob job = put_and_claim({.type = std::string(length, '~'), .payload = "p"});

    EXPECT_EQ(job.type, std::string(length, '~'));
    EXPECT_EQ(job.payload, "p");
  }
}

TEST_P(EnginePayload, IdsAreTakenAsTheyAre) {
  NEEDS(has_leases);
  for (const std::string& text : {std::string("1e3"), std::string("-0"), std::string("{}%*?[a]\\"),
                                  std::string("columns"), std::string(Limits::id, 'x')}) {
    const ActiveJob job = put_and_claim({.id = JobId(text)});

    EXPECT_EQ(job.id.text(), text);
    EXPECT_EQ(mail().ack(job), LeaseOutcome::acked);
  }
}

}  // namespace
}  // namespace duly::testing
