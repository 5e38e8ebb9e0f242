#include <algorithm>
#include <array>
#include <vector>

#include "fuzz/fuzz.h"
#include "src/engine/library_text.h"
#include "tests/support/raw_redis.h"
#include "tests/support/redis_server.h"

namespace {

using duly::fuzz::expect;
using duly::redis::Reply;
using Words = std::vector<std::string>;

constexpr std::array kFunctions{"put",     "claim",  "ack",        "fail",    "release",
                                "extend",  "cancel", "edit",       "replay",  "purge",
                                "recover", "pause",  "reschedule", "run_now", "find",
                                "list",    "stats",  "resume",     "check"};

// A private Redis with the library, and the state that earlier inputs left in it.
struct Fixture {
  duly::testing::RedisServer server{};
  duly::testing::RawRedis redis{server.socket_path()};
  Words keys{"15"};

  Fixture() {
    for (const char* const part :
         {"due", "jobs", "leases", "held", "tries", "dead", "meta", "idle", "keeper", "done",
          "priorities", "dedupe", "groups", "schedules", "events"}) {
      keys.push_back("duly:{mail}:" + std::string(part));
    }
    const Reply loaded =
        redis.command({"FUNCTION", "LOAD", duly::function_text(duly::library_parts())});
    expect(!loaded.is_error(), "the library loads", loaded.text);
  }

  Reply call(const std::string& function, const Words& arguments) {
    Words words{"FCALL", "duly_" + function};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return redis.command(words);
  }

  void expect_nothing(const Words& check) {
    const Reply reply = call("check", check);
    expect(!reply.is_error() && reply.items.size() == 5, "a check answers", reply.text);
    const auto& findings = reply.items[3].items;
    expect(findings.empty(), "all fits together",
           findings.empty() ? "" : findings[0].text + " " + findings[1].text);
  }
};

Words words_of(std::string_view text) {
  Words words;
  while (!text.empty() && words.size() < 300) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

// A function answers, or refuses by name, whatever its arguments; and the queue stays consistent.
// The input is calls, parted by blank lines; each begins with a byte that picks the function, then
// one argument a line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static Fixture fixture;
  fixture.redis.command({"FLUSHALL"});
  std::string_view text = duly::fuzz::as_text(bytes, size);
  for (int call = 0; call < 8 && !text.empty(); ++call) {
    const auto& function = kFunctions[static_cast<unsigned char>(text[0]) % kFunctions.size()];
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    const Reply reply =
        fixture.call(function, words_of(text.substr(1, std::max<std::size_t>(end, 1) - 1)));
    expect(!reply.is_error() || reply.text.starts_with("DULY_INVALID "),
           "a reply, or a refusal by name", std::string(function) + ": " + reply.text);
    expect(reply.is_error() || !reply.items.empty(), "a reply that begins with a word", function);
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  fixture.expect_nothing({"part", "summary"});
  fixture.expect_nothing({"part", "totals"});
  for (const char* const part : {"leases", "held", "due", "dead", "tries"}) {
    fixture.expect_nothing({"part", part});
  }
  return 0;
}
