#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/e2e/cli_fixture.h"
#include "tests/support/eventually.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

class CliWork : public CliTest {
 protected:
  CliWork() { std::filesystem::create_directories(folder_); }
  ~CliWork() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  [[nodiscard]] std::vector<std::string> work(const std::string& command,
                                              std::vector<std::string> more = {}) const {
    auto all = line({"work", "mail", "--exec", command});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  [[nodiscard]] Json total(const std::string& name) const {
    return json({"stats", "mail"}).at("totals").at(name);
  }

  /// Runs the command on one job until its attempt has ended; answers the worker's end.
  ProgramEnd attempt(const std::string& command, std::vector<std::string> put_options = {}) const {
    std::vector<std::string> arguments{"mail", "payload", "--id", "job"};
    arguments.insert(arguments.end(), put_options.begin(), put_options.end());
    put(arguments);
    Program worker(work(command));
    EXPECT_TRUE(eventually([&] {
      const Json totals = json({"stats", "mail"}).at("totals");
      return totals.at("acked") == 1 || totals.at("failed") == 1;
    })) << worker.err();
    worker.signal(SIGTERM);
    return worker.wait();
  }

  [[nodiscard]] Json job() const { return json({"show", "mail", "job"}); }

  /// Whether a process of this number runs (and is no zombie).
  static bool runs(const std::string& pid) {
    const std::string stat = read("/proc/" + pid + "/stat");
    return !stat.empty() && stat.find(") Z ") == std::string::npos;
  }

  /// A set of signals in a process's status; bit 0 is signal 1.
  static std::uint64_t signals_of(const std::string& path, const std::string& set) {
    const std::string status = read(path);
    const std::size_t at = status.find(set + ":");
    if (at == std::string::npos) return 0;
    return std::stoull(status.substr(at + set.size() + 1), nullptr, 16);
  }

  std::string folder_ = ::testing::TempDir() + "duly_work_" + std::to_string(::getpid());
};

TEST_F(CliWork, AcksWhenTheCommandSucceeds) {
  const ProgramEnd end = attempt(
      "cat; echo \" of $DULY_QUEUE $DULY_JOB_ID $DULY_TYPE "
      "$DULY_ATTEMPT/$DULY_MAX_ATTEMPTS\"",
      {"--type", "note", "--max-attempts", "5"});

  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out, "payload of mail job note 1/5\n");
  EXPECT_NE(end.err.find("acked queue=mail id=job type=note attempt=1/5 run="), std::string::npos)
      << end.err;
  EXPECT_NE(end.err.find("stopped: 1 acked, 0 failed"), std::string::npos) << end.err;
  EXPECT_EQ(end.err.find("payload"), std::string::npos) << end.err;
  EXPECT_EQ(total("acked"), 1);
}

TEST_F(CliWork, TellsTheCommandWhenTheJobWasDue) {
  put({"mail", "x", "--at", "1700000000.250"});

  Program worker(work("echo $DULY_DUE_AT_MS $DULY_LATENESS_MS"));
  ASSERT_TRUE(eventually([&] { return total("acked") == 1; }));

  std::istringstream words(worker.out());
  std::int64_t due = 0;
  std::int64_t lateness = 0;
  words >> due >> lateness;
  EXPECT_EQ(due, 1'700'000'000'250);
  EXPECT_GT(lateness, 1'000'000);
}

TEST_F(CliWork, FailsWithTheEndOfStderrOnAnyOtherExit) {
  const ProgramEnd end = attempt("echo 'mailbox full' >&2; exit 3");

  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(job().at("state"), "scheduled");
  EXPECT_EQ(job().at("failures"), 1);
  EXPECT_EQ(job().at("last_error"), "exit 3: mailbox full");
}

TEST_F(CliWork, KeepsTheLastOfALongStderr) {
  attempt("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo END >&2; exit 1");

  const std::string error = job().at("last_error");
  EXPECT_LE(error.size(), 4096U);
  EXPECT_GT(error.size(), 4000U);
  EXPECT_TRUE(error.starts_with("exit 1: xxx"));
  EXPECT_TRUE(error.ends_with("xEND"));
}

TEST_F(CliWork, GivesUpOnExit100) {
  attempt("echo 'no such user' >&2; exit 100");

  EXPECT_EQ(job().at("state"), "dead");
  EXPECT_EQ(job().at("dead_reason"), "given_up");
  EXPECT_EQ(job().at("last_error"), "exit 100: no such user");
}

TEST_F(CliWork, FailsWhenASignalEndsTheCommand) {
  attempt("kill -SEGV $$");

  EXPECT_EQ(job().at("state"), "scheduled");
  EXPECT_EQ(job().at("last_error"), "signal 11 (Segmentation fault)");
}

TEST_F(CliWork, ATimeoutEndsTheCommandAndAllItStarted) {
  const std::string pids = path("pids");
  attempt(
      "trap '' TERM; sleep 61 & echo $! > " + pids + "; echo $$ >> " + pids + "; wait; sleep 62",
      {"--attempt-timeout", "300ms"});

  EXPECT_EQ(job().at("failures"), 1);
  EXPECT_NE(job().at("last_error").get<std::string>().find("timeout"), std::string::npos);
  std::istringstream numbers(read(pids));
  int count = 0;
  for (std::string pid; std::getline(numbers, pid); ++count) {
    EXPECT_TRUE(eventually([&] { return !runs(pid); })) << pid;
  }
  EXPECT_EQ(count, 2);
}

TEST_F(CliWork, ACancelEndsTheCommandForGood) {
  put({"mail", "payload", "--id", "job"});
  Program worker(work("echo > " + path("started") + "; exec sleep 67", {"--lease", "600ms"}));
  ASSERT_TRUE(eventually([&] { return !read(path("started")).empty(); })) << worker.err();

  EXPECT_EQ(duly({"cancel", "mail", "job"}).out, "asked job\n");

  EXPECT_TRUE(eventually([&] { return total("cancelled") == 1; })) << worker.err();
  EXPECT_EQ(duly({"show", "mail", "job"}).status, 7);
  EXPECT_EQ(total("failed"), 0);
  worker.signal(SIGTERM);
  EXPECT_NE(worker.wait().err.find("cancelled queue=mail id=job"), std::string::npos);
}

TEST_F(CliWork, WaitsForNoGrandchildThatHoldsStderr) {
  const std::string pid = path("pid");
  attempt("sleep 63 & echo $! > " + pid + "; echo done >&2");

  EXPECT_EQ(total("acked"), 1);
  ::kill(std::stoi(read(pid)), SIGKILL);
}

TEST_F(CliWork, TakesACommandThatDoesNotReadItsInput) {
  json({"put", "mail", "-"}, std::string(1024 * 1024, 'x'));

  const Program worker(work("true"));

  EXPECT_TRUE(eventually([&] { return total("acked") == 1; })) << worker.err();
}

TEST_F(CliWork, FeedsALargePayloadWhole) {
  json({"put", "mail", "-"}, std::string(1024 * 1024, 'x'));

  const Program worker(work("wc -c"));

  ASSERT_TRUE(eventually([&] { return total("acked") == 1; })) << worker.err();
  EXPECT_EQ(std::stoi(worker.out()), 1024 * 1024);
}

TEST_F(CliWork, WorksWithoutStandardInputOfItsOwn) {
  put({"mail", "payload"});

  const Program worker(
      {"sh", "-c", "exec \"$0\" --redis \"$1\" work mail --exec cat <&-", binary(), redis_.url()});

  ASSERT_TRUE(eventually([&] { return total("acked") == 1; })) << worker.err();
  EXPECT_EQ(worker.out(), "payload");
}

TEST_F(CliWork, RunsSoManyCommandsAtOnce) {
  for (int i = 0; i < 4; ++i) put({"mail", "x"});
  const Program worker(work("echo >> " + path("running") + "; sleep 64", {"--concurrency", "3"}));

  EXPECT_TRUE(eventually([&] { return read(path("running")) == "\n\n\n"; }));
  EXPECT_EQ(json({"stats", "mail"}).at("ready"), 1);
}

TEST_F(CliWork, HoldsReservedSlotsBack) {
  for (int i = 0; i < 4; ++i) put({"mail", "x"});
  const Program worker(work("echo $DULY_QUEUE >> " + path("running") + "; sleep 68",
                            {"urgent", "--concurrency", "3", "--reserve", "urgent=1", "--weight",
                             "mail=2", "--weight", "urgent=3"}));
  ASSERT_TRUE(eventually([&] { return read(path("running")) == "mail\nmail\n"; })) << worker.err();

  put({"urgent", "x"});

  EXPECT_TRUE(eventually([&] { return read(path("running")) == "mail\nmail\nurgent\n"; }));
  EXPECT_EQ(json({"stats", "mail"}).at("ready"), 2);
}

TEST_F(CliWork, RefusesSharesThatMeanNothing) {
  const auto refusal = [&](std::vector<std::string> options) {
    std::vector<std::string> all{"work", "mail", "sms", "--exec", "true"};
    all.insert(all.end(), options.begin(), options.end());
    const ProgramEnd end = duly(all);
    EXPECT_EQ(end.status, 2);
    return end.err;
  };
  using ::testing::HasSubstr;

  EXPECT_THAT(refusal({"--weight", "push=2"}), HasSubstr("--weight: queue \"push\", expected one"));
  EXPECT_THAT(refusal({"--weight", "mail"}), HasSubstr("--weight: \"mail\", expected QUEUE=N"));
  EXPECT_THAT(refusal({"--weight", "mail=-1"}), HasSubstr("expected QUEUE=N"));
  EXPECT_THAT(refusal({"--weight", "mail=0"}), HasSubstr("weight of mail: 0, expected 1 .."));
  EXPECT_THAT(refusal({"--reserve", "=1"}), HasSubstr("--reserve: \"=1\", expected QUEUE=N"));
  EXPECT_THAT(refusal({"--reserve", "mail=11"}), HasSubstr("reserved: more than 10 slots"));
  EXPECT_THAT(refusal({"--strict", "--weight", "mail=2"}), HasSubstr("--weight"));
}

TEST_F(CliWork, GivesCommandsTheUsualSignals) {
  put({"mail", "x"});

  const Program worker(work("cat /proc/self/status > " + path("status")));

  ASSERT_TRUE(eventually([&] { return total("acked") == 1; })) << worker.err();
  constexpr std::uint64_t all = (1U << 31U) - 1;  // glibc keeps 32 and 33 for itself.
  EXPECT_NE(read(path("status")).find("SigIgn:"), std::string::npos);
  EXPECT_EQ(signals_of(path("status"), "SigBlk") & all, 0U);
  EXPECT_EQ(signals_of(path("status"), "SigIgn") & all, 0U);
}

TEST_F(CliWork, SaysNothingWhenQuiet) {
  put({"mail", "x"});
  Program worker(work("true", {"--quiet"}));
  ASSERT_TRUE(eventually([&] { return total("acked") == 1; }));

  worker.signal(SIGINT);

  const ProgramEnd end = worker.wait();
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.err, "");
}

TEST_F(CliWork, B62StopsInOrderAndGivesJobsBackUnharmed) {
  for (int i = 0; i < 10; ++i) put({"mail", "x"});
  Program worker(work("sleep 65", {"--grace", "1s"}));
  ASSERT_TRUE(eventually([&] { return json({"stats", "mail"}).at("active") == 10; }));

  const auto begun_at = std::chrono::steady_clock::now();
  worker.signal(SIGTERM);
  const ProgramEnd end = worker.wait();
  const auto took = std::chrono::steady_clock::now() - begun_at;

  EXPECT_EQ(end.status, 0);
  EXPECT_GE(took, 1s);
  EXPECT_LT(took, 2s);
  const auto jobs = json_lines({"claim", "mail", "--most", "20"});
  ASSERT_EQ(jobs.size(), 10U);
  for (const Json& one : jobs) {
    EXPECT_EQ(one.at("attempt"), 1);
    EXPECT_EQ(json({"show", "mail", one.at("id")}).at("failures"), 0);
  }
}

TEST_F(CliWork, B62ASecondSignalEndsItAtOnce) {
  put({"mail", "x", "--id", "job"});
  const std::string pid = path("pid");
  Program worker(work("echo $$ > " + pid + "; exec sleep 66", {"--grace", "60s"}));
  ASSERT_TRUE(eventually([&] { return read(pid).ends_with('\n'); }));

  const auto begun_at = std::chrono::steady_clock::now();
  worker.signal(SIGTERM);
  worker.signal(SIGINT);

  EXPECT_EQ(worker.wait().status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begun_at, 2s);
  EXPECT_EQ(job().at("state"), "ready");
  EXPECT_TRUE(eventually([&] { return !runs(read(pid).substr(0, read(pid).find('\n'))); }));
}

TEST_F(CliWork, B62EndsInOrderHoweverEarlyTheSignalComes) {
  for (int i = 0; i < 20; ++i) {
    Program worker(work("true"));
    // From when it has blocked the signal on, whatever else it has done by then. (Whoever blocks
    // all signals is a sanitizer that starts.)
    ASSERT_TRUE(eventually([&] {
      constexpr std::uint64_t term = 1U << (SIGTERM - 1);
      constexpr std::uint64_t other = 1U << (SIGUSR1 - 1);
      const auto blocked =
          signals_of("/proc/" + std::to_string(worker.pid()) + "/status", "SigBlk");
      return (blocked & term) != 0 && (blocked & other) == 0;
    }));

    worker.signal(SIGTERM);

    const ProgramEnd end = worker.wait();
    EXPECT_EQ(end.status, 0) << "signal " << end.signal << "\n" << end.err;
  }
}

TEST_F(CliWork, B62EndsInTimeWhenRedisIsAway) {
  Program worker({binary(), "--redis", "redis://127.0.0.1:1", "work", "mail", "--exec", "true",
                  "--grace", "300ms"});
  ASSERT_TRUE(eventually([&] { return worker.err().find("127.0.0.1:1") != std::string::npos; }));

  const auto begun_at = std::chrono::steady_clock::now();
  worker.signal(SIGTERM);

  EXPECT_EQ(worker.wait().status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begun_at, 1500ms);
}

}  // namespace
}  // namespace duly::testing
