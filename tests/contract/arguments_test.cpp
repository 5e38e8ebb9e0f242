#include "tests/contract/engine_contract.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

const std::string kRecord{"\x01\x00\x00", 3};

/// What any Redis client can send: the functions themselves.
class LeaseArguments : public LeaseContract {
 protected:
  /// All that Redis holds of the queue.
  std::string snapshot() {
    std::string all;
    for (const char* const part :
         {"due", "jobs", "leases", "held", "tries", "dead", "meta", "idle", "keeper"}) {
      all += lease().raw({"DUMP", LeaseHarness::key(part)}).text + "|";
    }
    return all;
  }
  void expect_refused(const std::string& function, const Words& arguments) {
    const std::string before = snapshot();

    const redis::Reply reply = lease().call(function, arguments);

    std::string text = function;
    for (const std::string& word : arguments) text += " '" + word.substr(0, 40) + "'";
    EXPECT_THAT(reply.text, StartsWith("DULY_INVALID ")) << text;
    EXPECT_EQ(snapshot(), before) << text;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, LeaseArguments, lease_engines(), kind_name);

TEST_P(LeaseArguments, APutOfPlainValuesIsAJob) {
  const redis::Reply reply = lease().call("duly_put", {"id",
                                                       "a",
                                                       "type",
                                                       "welcome",
                                                       "payload",
                                                       "hi",
                                                       "delay_ms",
                                                       "1000",
                                                       "max_attempts",
                                                       "3",
                                                       "lease_ms",
                                                       "5000",
                                                       "timeout_ms",
                                                       "6000",
                                                       "backoff",
                                                       "fixed",
                                                       "backoff_base_ms",
                                                       "7",
                                                       "backoff_jitter_percent",
                                                       "0"});

  ASSERT_EQ(reply.items.size(), 3U);
  EXPECT_EQ(reply.items[0].text, "created");
  EXPECT_EQ(reply.items[1].text, "a");
  const auto due_at = clock().now() + 1s;
  EXPECT_EQ(reply.items[2].text, std::to_string(due_at.time_since_epoch().count()));
  const JobInfo info = mail().info("a"_id);
  EXPECT_EQ(info.type, "welcome");
  EXPECT_EQ(info.payload, "hi");
  EXPECT_EQ(info.due_at, due_at);
  EXPECT_EQ(info.max_attempts, 3U);
  EXPECT_EQ(info.lease, 5s);
  EXPECT_EQ(info.timeout, 6s);
  EXPECT_EQ(info.backoff.kind, Backoff::Kind::fixed);
  EXPECT_EQ(info.backoff.base, 7ms);
}

TEST_P(LeaseArguments, APutOfPlainValuesHasTheDefaultsOfNewJob) {
  lease().call("duly_put", {"id", "a", "max_attempts", "20"});  // named, so the policy is written

  const NewJob defaults{};
  EXPECT_EQ(mail().info("a"_id).backoff, defaults.backoff);
  EXPECT_EQ(mail().info("a"_id).timeout, defaults.timeout);
  EXPECT_EQ(mail().info("a"_id).lease, defaults.lease);
}

TEST_P(LeaseArguments, B17_APutTakesWholeNumbersInRangeOnly) {
  for (const char* const delay :
       {"-1", "-1000000000000000", "-9223372036854775808", "abc", "1e3", "NaN", "nan", "inf", " 5",
        "5 ", "5s5", "0x10", "1.5", "+1", "3155760000001", "99999999999999999999999999"}) {
    expect_refused("duly_put", {"id", "a", "delay_ms", delay});
  }
  for (const char* const due_at : {"-1", "abc", "1e3", "1.0", "253402300800000"}) {
    expect_refused("duly_put", {"id", "a", "due_at_ms", due_at});
  }
}

TEST_P(LeaseArguments, B17_AnEmptyDelayAndADueTimeOfZeroAreDueNow) {
  lease().call("duly_put", {"id", "a", "delay_ms", ""});
  lease().call("duly_put", {"id", "b", "due_at_ms", "0"});

  EXPECT_EQ(mail().state_of("a"_id), JobState::ready);
  EXPECT_EQ(mail().state_of("b"_id), JobState::ready);
}

TEST_P(LeaseArguments, AWrongPutIsRefused) {
  expect_refused("duly_put", {});
  expect_refused("duly_put", {"id"});
  expect_refused("duly_put", {"id", ""});
  expect_refused("duly_put", {"id", "with blank"});
  expect_refused("duly_put", {"id", "line\n"});
  expect_refused("duly_put", {"id", "na\xC3\xAFve"});
  expect_refused("duly_put", {"id", std::string(129, 'x')});
  expect_refused("duly_put", {"id", "a", "typo", "x"});
  expect_refused("duly_put", {"id", "a", "delay_ms", "1", "due_at_ms", "1"});
  expect_refused("duly_put", {"id", "a", "type", "with blank"});
  expect_refused("duly_put", {"id", "a", "type", std::string(129, 'x')});
  expect_refused("duly_put", {"id", "a", "record", "\x02\x01\x03"});
  expect_refused("duly_put", {"id", "a", "record", "\x01\x01\x03short"});
}

TEST_P(LeaseArguments, B50_AWrongPolicyIsRefused) {
  const std::vector<std::pair<std::string, Words>> wrong{
      {"max_attempts", {"0", "65536", "-1", "x"}},
      {"lease_ms", {"99", "86400001", "-1"}},
      {"timeout_ms", {"0", "2592000001"}},
      {"backoff", {"linear", "Fixed"}},
      {"backoff_base_ms", {"-1", "2592000001", "NaN"}},
      {"backoff_cap_ms", {"-1", "2592000001", "9999"}},
      {"backoff_factor_milli", {"0", "999", "-1", "NaN", "inf", "1000000001", "1.5"}},
      {"backoff_jitter_percent", {"-1", "101", "0.5"}},
  };
  for (const auto& [name, values] : wrong) {
    for (const std::string& value : values) expect_refused("duly_put", {"id", "a", name, value});
  }
}

TEST_P(LeaseArguments, AWrongBatchIsRefused) {
  expect_refused("duly_put", {"columns"});
  expect_refused("duly_put", {"columns", "0"});
  expect_refused("duly_put", {"columns", "33", "id"});
  expect_refused("duly_put", {"columns", "1.5", "id", "a"});
  expect_refused("duly_put", {"columns", "x", "id", "a"});
  expect_refused("duly_put", {"columns", "1", "typo", "a"});
  expect_refused("duly_put", {"columns", "1", "id"});
  expect_refused("duly_put", {"columns", "2", "id", "payload", "a"});
  expect_refused("duly_put", {"columns", "2", "id"});
  Words too_many{"columns", "1", "id"};
  for (int i = 0; i < 251; ++i) too_many.push_back("job" + std::to_string(i));
  expect_refused("duly_put", too_many);
}

TEST_P(LeaseArguments, AWrongRowIsNamedAndTheOthersAreStored) {
  const redis::Reply reply =
      lease().call("duly_put", {"columns", "2", "id", "delay_ms", "a", "1", "b", "soon", "c", "3"});

  ASSERT_EQ(reply.items.size(), 6U);
  EXPECT_EQ(reply.items[2].integer, 2);
  EXPECT_EQ(reply.items[3].integer, 2);
  EXPECT_EQ(reply.items[4].text, "invalid");
  EXPECT_THAT(reply.items[5].text, StartsWith("delay_ms: "));
  EXPECT_FALSE(mail().find("b"_id));
  EXPECT_EQ(mail().stats().totals.put, 2U);
}

TEST_P(LeaseArguments, AWrongClaimIsRefused) {
  mail().put({});
  clock().advance(1s);
  expect_refused("duly_claim", {});
  expect_refused("duly_claim", {"token", ""});
  expect_refused("duly_claim", {"token", "with blank"});
  expect_refused("duly_claim", {"token", "with.dot"});
  expect_refused("duly_claim", {"token", std::string(61, 't')});
  expect_refused("duly_claim", {"token", "t", "as", "typo"});
  expect_refused("duly_claim", {"token", "t", "waiter", "with blank"});
  expect_refused("duly_claim", {"token", "t", "most", "251"});
  expect_refused("duly_claim", {"token", "t", "most", "-1"});
  expect_refused("duly_claim", {"token", "t", "lease_ms", "99"});
  expect_refused("duly_claim", {"token", "t", "lease_ms", "86400001"});
  expect_refused("duly_claim", {"token", "t", "typo", "x"});
}

TEST_P(LeaseArguments, AWrongEndOfALeaseIsRefused) {
  const ActiveJob job = put_and_claim({.id = "a"_id});
  const Words held{"id", "a", "token", job.token.text()};
  const auto with = [&](const Words& more) {
    Words words = held;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };

  for (const char* const function : {"duly_ack", "duly_fail", "duly_release", "duly_extend"}) {
    expect_refused(function, with({"typo", "x"}));
    expect_refused(function, {"id"});
    expect_refused(function, {"id", "a"});
    expect_refused(function, {"token", job.token.text()});
  }
  expect_refused("duly_fail", with({"give_up", "yes"}));
  expect_refused("duly_fail", with({"retry_in_ms", "-1"}));
  expect_refused("duly_fail", with({"retry_in_ms", "3155760000001"}));
  expect_refused("duly_extend", held);
  expect_refused("duly_extend", with({"lease_ms", "99"}));
  expect_refused("duly_extend", with({"lease_ms", "86400001"}));
  EXPECT_EQ(mail().ack(job), LeaseOutcome::acked);
}

TEST_P(LeaseArguments, AWrongChangeIsRefused) {
  mail().put({.id = "a"_id});

  expect_refused("duly_reschedule", {"id", "a", "delay_ms", "-1"});
  expect_refused("duly_reschedule", {"id", "a", "delay_ms", "1", "due_at_ms", "1"});
  expect_refused("duly_edit", {"id", "a"});
  expect_refused("duly_cancel", {"id", "a", "typo", "x"});
  expect_refused("duly_run_now", {"id"});
  expect_refused("duly_reschedule", {"id", "a"});
  for (const char* const function :
       {"duly_cancel", "duly_run_now", "duly_replay", "duly_purge", "duly_find"}) {
    expect_refused(function, {});
  }
  expect_refused("duly_purge", {"most", "0", "died_by_ms", "1"});
  expect_refused("duly_purge", {"most", "251", "died_by_ms", "1"});
  expect_refused("duly_replay", {"most", "1"});
  expect_refused("duly_list", {"state", "finished"});
  expect_refused("duly_list", {"state", "ready", "most", "0"});
  expect_refused("duly_list", {"state", "ready", "most", "251"});
  expect_refused("duly_list", {"state", "ready", "after", "x"});
  expect_refused("duly_find", {"typo", "x"});
  expect_refused("duly_stats", {"typo", "x"});
}

TEST_P(LeaseArguments, KeysAreTheWholeListOrTheCallIsRefused) {
  if (GetParam() == EngineKind::functions) {
    const redis::Reply reply =
        lease().raw({"FCALL", "duly_put", "1", LeaseHarness::key("due"), "id", "a"});
    EXPECT_THAT(reply.text, StartsWith("DULY_INVALID keys"));
  } else {
    EXPECT_THAT(lease().call("duly_typo", {}).text, StartsWith("DULY_INVALID function"));
  }
  EXPECT_THAT(mail().claim_many(), IsEmpty());
}

TEST_P(LeaseArguments, EachRowOfABatchWithOneWrongDelayIsRefusedAlone) {
  const redis::Reply reply =
      lease().call("duly_put", {"columns", "3", "id", "delay_ms", "record", "a", "soon", kRecord,
                                "b", "soon", kRecord, "c", "0", kRecord});

  ASSERT_EQ(reply.items.size(), 9U) << reply.text;
  EXPECT_EQ(reply.items[2].integer, 1);
  for (const std::size_t row : {0U, 1U}) {
    EXPECT_EQ(reply.items[3 + 3 * row].integer, static_cast<std::int64_t>(row + 1));
    EXPECT_EQ(reply.items[4 + 3 * row].text, "invalid");
    EXPECT_THAT(reply.items[5 + 3 * row].text, StartsWith("delay_ms: not a whole number"));
  }
}

}  // namespace
}  // namespace duly::testing
