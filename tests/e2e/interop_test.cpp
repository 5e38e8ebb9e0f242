// One queue shared by the C++ client and a foreign one: what one side packs, the other reads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "duly/duly.h"

namespace {

using namespace std::chrono_literals;
using duly::ActiveJob;

std::string all_bytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

const std::map<std::string, std::string>& payloads() {
  static const std::map<std::string, std::string> all{
      {"all-bytes", all_bytes()},
      {"numbers", R"({"a":9007199254740993,"b":18446744073709551615,"c":1.10,"d":[],"e":{}})"},
      {"empty", ""}};
  return all;
}

struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "duly-interop-XXXXXX").string();

  Folder() {
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

class Interop : public testing::Test {
 protected:
  Interop() { admin_.load_library(); }

  // The Python side, on the same Redis.
  [[nodiscard]] int python(const std::string& what) const {
    const std::string command = "/usr/bin/python3 '" DULY_SOURCE_DIR "/tests/e2e/interop.py' " +
                                what + " '" + connection_.address() + "' 2>&1";
    return std::system(command.c_str());  // NOLINT(cert-env33-c): fixed text
  }

  Folder folder_;  // goes last
  duly::Connection connection_{[this] {
    unsetenv("DULY_REDIS");
    return duly::ConnectionOptions{.data = folder_.path};
  }()};
  duly::Client client_{connection_};
  duly::Admin admin_{connection_};
};

TEST_F(Interop, WhatPythonPutsACppClaimGetsByteForByte_B19) {
  ASSERT_EQ(python("put"), 0);

  const std::vector<ActiveJob> jobs = client_.claim("interop", {.most = 10});

  ASSERT_EQ(jobs.size(), payloads().size());
  for (const ActiveJob& job : jobs) {
    EXPECT_EQ(job.payload, payloads().at(job.id.text()));
    EXPECT_EQ(job.type, "cards");
    EXPECT_EQ(job.max_attempts, 7U);
    EXPECT_EQ(job.lease, 45s);
    EXPECT_EQ(job.timeout, 61s);
    EXPECT_EQ(client_.ack(job), duly::LeaseOutcome::acked);
  }
}

TEST_F(Interop, WhatPythonPutsTheCppAdminReadsInFull) {
  ASSERT_EQ(python("put"), 0);

  const auto info = admin_.find("interop", duly::JobId("numbers"));

  ASSERT_TRUE(info);
  const duly::Backoff expected{.kind = duly::Backoff::Kind::fixed,
                               .base = 1500ms,
                               .cap = 90s,
                               .factor = 1.25,
                               .jitter = 0.35};
  EXPECT_EQ(info->backoff, expected);
  EXPECT_EQ(info->payload, payloads().at("numbers"));
}

TEST_F(Interop, WhatCppPacksPythonReadsAndWorksByteForByte_B19) {
  for (const auto& [id, payload] : payloads()) {
    const auto put = client_.put("interop", {.type = "cards",
                                             .payload = payload,
                                             .id = duly::JobId(id),
                                             .lease = 45s,
                                             .timeout = 61s,
                                             .max_attempts = 7,
                                             .backoff = {.kind = duly::Backoff::Kind::fixed,
                                                         .base = 1500ms,
                                                         .cap = 90s,
                                                         .factor = 1.25,
                                                         .jitter = 0.35}});
    ASSERT_EQ(put.outcome, duly::PutOutcome::created);
  }

  EXPECT_EQ(python("work"), 0);

  EXPECT_EQ(admin_.stats("interop").totals.acked, payloads().size());
  EXPECT_EQ(admin_.stats("interop").active, 0U);
}

TEST_F(Interop, TheDocumentedRightsAreEnoughForAWorker_B94) {
  ASSERT_EQ(python("rights"), 0);
  const std::string path = connection_.address().substr(std::string("unix://").size());
  duly::Connection limited{duly::ConnectionOptions{.redis = "unix://app:secret@" + path}};
  duly::Admin(limited).load_library();

  duly::Worker worker(limited, {.queues = {"interop"}});
  std::string seen;
  worker.handle("", [&](duly::Attempt& attempt) {
    seen = attempt.job().payload;
    worker.stop();
  });
  duly::Client(limited).put("interop", {.payload = "with few rights", .delay = 50ms});
  worker.run();

  EXPECT_EQ(seen, "with few rights");
  EXPECT_EQ(admin_.stats("interop").totals.acked, 1U);
}

}  // namespace
