#include "src/core/record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace duly::core {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

const std::string kStamp = "\x01\x02\x03\x04\x05\x00"s;  // 0x0504030201 ms.

NewJob job_with_policy() {
  return {.type = "mail",
          .payload = "hi",
          .lease = 60s,
          .timeout = Limits::timeout,
          .max_attempts = 65'535,
          .backoff = {
              .kind = Backoff::Kind::fixed, .base = 1s, .cap = 2s, .factor = 1.5, .jitter = 0.25}};
}

Record unpacked(const std::string& bytes) {
  Record record;
  EXPECT_TRUE(unpack_record(bytes, record));
  return record;
}

void expect_same(const Record& record, const NewJob& job) {
  EXPECT_EQ(record.type, job.type);
  EXPECT_EQ(record.payload, job.payload);
  EXPECT_EQ(record.lease, job.lease);
  EXPECT_EQ(record.timeout, job.timeout);
  EXPECT_EQ(record.max_attempts, job.max_attempts);
  EXPECT_EQ(record.backoff, job.backoff);
}

TEST(Record, LayoutWithoutAPolicy) {
  EXPECT_EQ(pack_record({.type = "mail", .payload = "hi"}), "\x01\x00\x04mailhi"s);
  EXPECT_EQ(pack_record({}), "\x01\x00\x00"s);
}

TEST(Record, LayoutWithAPolicy) {
  EXPECT_EQ(pack_record(job_with_policy()),
            "\x01\x03\x04"      // Format, flags, type length.
            "\x19\x00\xFF\xFF"  // Jitter 25, priority, 65535 attempts.
            "\x60\xEA\x00\x00"  // Lease 60000 ms.
            "\x00\xC8\x7E\x9A"  // Timeout 2592000000 ms: above 31 bits.
            "\xE8\x03\x00\x00"  // Base 1000 ms.
            "\xD0\x07\x00\x00"  // Cap 2000 ms.
            "\xDC\x05\x00\x00"  // Factor 1500.
            "mailhi"s);
}

TEST(Record, EachPolicyFieldAloneBringsThePolicy) {
  const std::vector<NewJob> jobs{
      {.lease = 1s},
      {.timeout = 1s},
      {.max_attempts = 19},
      {.backoff = {.kind = Backoff::Kind::fixed}},
      {.backoff = {.base = 9s}},
      {.backoff = {.cap = 0ms}},
      {.backoff = {.factor = 3.0}},
      {.backoff = {.jitter = 0.0}},
  };
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::string bytes = pack_record(jobs[i]);
    EXPECT_EQ(bytes.size(), kHeaderBytes - kStampBytes + kPolicyBytes) << i;
    expect_same(unpacked(kStamp + bytes), jobs[i]);
  }
}

TEST(Record, DelayDueTimeAndIdAreNoPartOfIt) {
  const NewJob job{.type = "t", .delay = 5s, .id = JobId("mine")};
  EXPECT_EQ(pack_record(job), "\x01\x00\x01t"s);
}

TEST(Record, ComesBackWithItsStamp) {
  const NewJob job = job_with_policy();
  const std::string bytes = kStamp + pack_record(job);
  const Record record = unpacked(bytes);
  EXPECT_EQ(record.put_at.time_since_epoch(), Milliseconds{0x0504030201});
  expect_same(record, job);
}

TEST(Record, B19TheStampIsExactToTheLastMillisecondOf9999) {
  std::string stamp;
  for (std::int64_t ms = Limits::last_due_at.time_since_epoch().count(), i = 0; i < 6;
       ++i, ms >>= 8) {
    stamp += static_cast<char>(ms & 0xFF);
  }
  const std::string bytes = stamp + pack_record({});
  EXPECT_EQ(unpacked(bytes).put_at, Limits::last_due_at);
}

TEST(Record, WithoutAPolicyTheDefaultsHold) {
  const std::string bytes = kStamp + pack_record({.type = "a", .payload = "b"});
  expect_same(unpacked(bytes), {.type = "a", .payload = "b"});
}

TEST(Record, B19PayloadBytesAreOpaque) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte += static_cast<char>(i);
  for (const std::string& payload :
       {every_byte, ""s, std::string(1024 * 1024, '\x80'), "\xED\xA0\x80"s,
        R"({"a":9007199254740993,"b":18446744073709551615,"c":1.10,"d":[],"e":{}})"s}) {
    NewJob job = job_with_policy();
    job.payload = payload;
    const std::string with_policy = kStamp + pack_record(job);
    EXPECT_EQ(unpacked(with_policy).payload, payload);
    const std::string without = kStamp + pack_record({.type = "t", .payload = payload});
    EXPECT_EQ(unpacked(without).payload, payload);
  }
}

TEST(Record, TheLongestTypeComesBack) {
  const std::string type(Limits::type, 'x');
  const std::string bytes = kStamp + pack_record({.type = type});
  EXPECT_EQ(unpacked(bytes).type, type);
  EXPECT_EQ(unpacked(bytes).payload, "");
}

TEST(Record, EveryTruncationIsRefusedAndChangesNothing) {
  for (NewJob job : {job_with_policy(), NewJob{.type = "mail"}}) {
    job.payload.clear();  // A shorter payload is a valid payload: only its absence can be seen.
    const std::string bytes = kStamp + pack_record(job);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      Record record{.type = "before"};
      EXPECT_FALSE(unpack_record(bytes.substr(0, size), record)) << size;
      EXPECT_EQ(record.type, "before");
    }
  }
}

TEST(Record, UnknownFormatsAreRefused) {
  for (int format = 0; format < 256; ++format) {
    Record record;
    const std::string bytes = kStamp + static_cast<char>(format) + "\x00\x00"s;
    EXPECT_EQ(unpack_record(bytes, record), format == 1) << format;
  }
}

TEST(Record, FixedWithoutAPolicyIsTheDefaultPolicyWithAFixedBackoff) {
  const std::string bytes = kStamp + "\x01\x02\x01tp"s;  // As a put by hand packs it.
  expect_same(unpacked(bytes),
              {.type = "t", .payload = "p", .backoff = {.kind = Backoff::Kind::fixed}});
}

TEST(Record, AllPolicyBytesAreReadAsNumbers) {
  const std::string bytes = kStamp + "\x01\xFF\x00"s + std::string(kPolicyBytes, '\xFF');
  const Record record = unpacked(bytes);
  EXPECT_EQ(record.max_attempts, 65'535U);
  EXPECT_EQ(record.lease.count(), 4'294'967'295);
  EXPECT_EQ(record.timeout.count(), 4'294'967'295);
  EXPECT_EQ(record.backoff, (Backoff{.kind = Backoff::Kind::fixed,
                                     .base = Milliseconds{4'294'967'295},
                                     .cap = Milliseconds{4'294'967'295},
                                     .factor = 4'294'967.295,
                                     .jitter = 2.55}));
}

}  // namespace
}  // namespace duly::core
