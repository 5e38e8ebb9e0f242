#include <csignal>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/e2e/cli_fixture.h"
#include "tests/support/eventually.h"

namespace duly::testing {
namespace {

class CliDoctor : public CliTest {
 protected:
  using Report = std::map<std::string, Json>;

  [[nodiscard]] static Report report_of(const ProgramEnd& end) {
    Report report;
    for (const Json& line : parse_lines(end.out)) report[line.at("check")] = line;
    return report;
  }
  [[nodiscard]] Report report() const { return report_of(duly({"doctor", "--json"})); }

  /// As a user who may do what this rule says.
  [[nodiscard]] ProgramEnd doctor_as(const std::string& rule) const {
    std::vector<std::string> words{"ACL", "SETUSER", "app", "reset", "on", ">secret"};
    std::istringstream stream(rule);
    for (std::string word; stream >> word;) words.push_back(word);
    EXPECT_EQ(redis_.ask(words), "OK");
    return run_program(
        {binary(), "--redis", "unix://app:secret@" + redis_.socket_path(), "doctor", "--json"});
  }

  /// The rule that docs/protocol.md shows under "Rights".
  static std::string documented_rule() {
    std::ifstream file(DULY_SOURCE_DIR "/docs/protocol.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const std::size_t begin = page.find("~duly:*", page.find("ACL SETUSER app"));
    const std::string rule = page.substr(begin, page.find("```", begin) - begin);
    return std::regex_replace(rule, std::regex(R"(\\)"), " ");
  }

  void set(const std::string& name, const std::string& value) const {
    ASSERT_EQ(redis_.cli("CONFIG", "SET", name, value), "OK");
  }
};

TEST_F(CliDoctor, FindsAGoodServerGoodAndChangesNothing) {
  set("appendonly", "yes");

  const ProgramEnd end = duly({"doctor", "--json"});

  EXPECT_EQ(end.status, 0) << end.out;
  const Report report = report_of(end);
  EXPECT_EQ(report.size(), 13U);
  for (const auto& [name, line] : report) EXPECT_EQ(line.at("verdict"), "ok") << line;
  EXPECT_EQ(redis_.cli("DBSIZE"), "0");
  EXPECT_EQ(redis_.cli("FUNCTION", "LIST"), "");
}

TEST_F(CliDoctor, AThreatEndsWith1AndSaysWhatToDo) {
  const ProgramEnd end = duly({"doctor"});

  EXPECT_EQ(end.status, 1);
  EXPECT_TRUE(std::regex_search(
      end.out, std::regex("\npersistence +threat +none +a restart of Redis loses every job\n")))
      << end.out;
  EXPECT_NE(end.out.find("What to do:\n  persistence: CONFIG SET appendonly yes"),
            std::string::npos)
      << end.out;
}

TEST_F(CliDoctor, B91JudgesEachPolicyOfARealRedis) {
  for (const auto& [policy, verdict] :
       std::map<std::string, std::string>{{"allkeys-lru", "threat"},
                                          {"allkeys-random", "threat"},
                                          {"volatile-ttl", "warning"},
                                          {"noeviction", "ok"}}) {
    set("maxmemory-policy", policy);
    const Json line = report().at("eviction");
    EXPECT_EQ(line.at("verdict"), verdict) << line;
    EXPECT_EQ(line.at("found"), "maxmemory-policy " + policy);
  }
}

TEST_F(CliDoctor, B91TellsHowManyKeysWereEvicted) {
  set("maxmemory-policy", "allkeys-random");
  set("maxmemory", "3mb");
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(redis_.cli("SET", "foreign" + std::to_string(i), std::string(100'000, 'x')), "OK");
  }

  const Json line = report().at("evicted");

  EXPECT_EQ(line.at("verdict"), "threat") << line;
  EXPECT_NE(line.at("found"), "0 keys") << line;
}

TEST_F(CliDoctor, B91AJobOutlivesEvictionOfKeysWithALifetime) {
  set("maxmemory-policy", "volatile-ttl");
  put({"mail", "x", "--id", "a", "--in", "1h"});
  set("maxmemory", "3mb");
  for (int i = 0; i < 40; ++i) {
    const std::string reply =
        redis_.cli("SET", "foreign" + std::to_string(i), std::string(100'000, 'x'), "EX", "1000");
    ASSERT_EQ(reply, "OK");
  }

  EXPECT_EQ(report().at("evicted").at("verdict"), "warning");
  EXPECT_EQ(json({"show", "mail", "a"}).at("state"), "scheduled");
}

TEST_F(CliDoctor, B91AWorkerWarnsOnceOfAPolicyThatEvicts) {
  set("maxmemory-policy", "allkeys-lru");
  Program worker(line({"work", "mail", "sms", "--exec", "cat"}));
  ASSERT_TRUE(eventually([&] { return !worker.err().empty(); }));
  put({"mail", "x"});
  ASSERT_TRUE(eventually([&] { return worker.err().find("acked") != std::string::npos; }));

  worker.signal(SIGTERM);
  const ProgramEnd end = worker.wait();

  const std::size_t first = end.err.find("warning JOBS CAN BE LOST: maxmemory-policy allkeys-lru");
  EXPECT_NE(first, std::string::npos) << end.err;
  EXPECT_EQ(end.err.find("maxmemory-policy allkeys-lru", first + 40), std::string::npos) << end.err;
}

TEST_F(CliDoctor, B91AWorkerSaysNothingOfNoeviction) {
  Program worker(line({"work", "mail", "--exec", "cat"}));
  put({"mail", "x"});
  ASSERT_TRUE(eventually([&] { return worker.err().find("acked") != std::string::npos; }));
  worker.signal(SIGTERM);

  EXPECT_EQ(worker.wait().err.find("maxmemory"), std::string::npos);
}

TEST_F(CliDoctor, AUserWithTheDocumentedRightsHasThem) {
  const ProgramEnd end = doctor_as(documented_rule());

  const Report report = report_of(end);
  EXPECT_EQ(report.at("rights").at("verdict"), "ok") << end.out;
  EXPECT_EQ(report.at("eviction").at("verdict"), "ok") << end.out;
  EXPECT_EQ(redis_.cli("DBSIZE"), "0");
}

TEST_F(CliDoctor, EveryDocumentedRightIsLookedAt) {
  const ProgramEnd end = doctor_as("~duly:* &duly:* -@all +multi +exec +discard +auth +info");

  const std::set<std::string> needless{"+multi", "+exec", "+discard", "+auth", "+info"};
  std::set<std::string> documented;
  std::istringstream rule(documented_rule());
  for (std::string word; rule >> word;) {
    if (word.starts_with('+') && !needless.contains(word)) documented.insert(word);
  }
  std::set<std::string> missed;
  std::istringstream reason(report_of(end).at("rights").at("reason").get<std::string>());
  for (std::string word; reason >> word;) {
    if (word.starts_with('+')) missed.insert(word);
  }
  EXPECT_EQ(missed, documented);
}

TEST_F(CliDoctor, MissingRightsAreNamedByEitherWayOfAsking) {
  for (const std::string more : {"-hset -zpopmax", "-hset -zpopmax +acl|whoami +acl|dryrun"}) {
    const ProgramEnd end = doctor_as(documented_rule() + " " + more);

    const Json line = report_of(end).at("rights");
    EXPECT_EQ(end.status, 1);
    EXPECT_EQ(line.at("verdict"), "threat");
    EXPECT_EQ(line.at("reason"), "not granted: +hset +zpopmax") << more;
  }
  EXPECT_EQ(redis_.cli("DBSIZE"), "0");
}

TEST_F(CliDoctor, AUserWhoMayDoNothingGetsNoVerdicts) {
  const ProgramEnd end = doctor_as("~* -@all");

  EXPECT_EQ(end.status, 0) << end.out << end.err;
  for (const auto& [name, line] : report_of(end)) {
    EXPECT_EQ(line.at("verdict"), "unknown") << line;
  }
}

TEST_F(CliDoctor, ARedisThatIsAwayEndsWith3) {
  const ProgramEnd end =
      run_program({binary(), "--redis", "redis://127.0.0.1:1", "--timeout", "200ms", "doctor"});

  EXPECT_EQ(end.status, 3) << end.err;
}

TEST_F(CliDoctor, TheForecastIsMeasuredOverTheJobsThatWait) {
  std::string lines;
  for (int i = 0; i < 1500; ++i)
    lines += R"({"in":"1h","payload":")" + std::string(100, 'x') + "\"}\n";
  ASSERT_EQ(duly({"put", "mail", "--ndjson", "-", "--quiet"}, lines).status, 0);

  const Json line = report().at("forecast");

  EXPECT_TRUE(line.at("reason").get<std::string>().starts_with("measured over 1500 jobs")) << line;
  const int bytes = std::stoi(line.at("found").get<std::string>());
  EXPECT_GT(bytes, 200) << line;
  EXPECT_LT(bytes, 500) << line;
}

}  // namespace
}  // namespace duly::testing
