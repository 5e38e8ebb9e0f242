// Each operation of Client and Admin with its link cut: what the caller is told is true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "duly/duly.h"
#include "tests/support/cut_proxy.h"
#include "tests/support/eventually.h"
#include "tests/support/redis_server.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;

/// A queue with one job in each state, seen directly and through the proxy.
struct Scene {
  Scene() {
    direct.put("mail", NewJob{.payload = "old", .delay = 1h, .id = JobId("waiting")});
    direct.put("mail", NewJob{.id = JobId("dead")});
    direct.fail(direct.claim("mail").at(0), {.then = Failure::Then::give_up});
    direct.put("mail", NewJob{.id = JobId("active"), .backoff = {.base = 1h}});
    active = direct.claim("mail", {.lease = 1min}).at(0);
    direct.put("mail", NewJob{.id = JobId("ready")});
    admin.ping();  // The connection stands, and its handshake is not what is cut.
  }

  std::optional<JobInfo> find(const char* id) { return look.find("mail", JobId(id)); }
  QueueStats stats() { return look.stats("mail"); }
  std::uint64_t active_lease_ms() {
    const std::string at = redis.cli("ZSCORE", "duly:{mail}:leases", active.token.text());
    return at == "nil"
               ? 0
               : std::stoull(at) -
                     static_cast<std::uint64_t>(active.claimed_at.time_since_epoch().count());
  }

  RedisServer redis{};
  CutProxy proxy{redis.socket_path()};
  Client direct{Connection(redis.url())};
  Admin look{Connection(redis.url())};
  Connection cut{proxy.url()};
  Client client{cut};
  Admin admin{cut};
  ActiveJob active{};
};

enum class Again {
  safe,     // repeated by duly: the caller hears of success
  settled,  // repeated by duly; that the first try had worked cannot be told apart from a lost
            // lease
  never,    // told as unknown
};

struct Operation {
  const char* name;
  const char* word;
  Again again;
  std::function<void(Scene&)> act;
  std::function<std::uint64_t(Scene&)> effects;  // how often it has happened
};

std::uint64_t once(bool is_done) { return is_done ? 1 : 0; }

const std::vector<Operation>& changes() {
  static const JobId kWaiting("waiting");
  static const JobId kDead("dead");
  static const std::vector<Operation> all{
      {"put", "duly_put", Again::safe,
       [](Scene& s) {
         EXPECT_EQ(s.client.put("mail", NewJob{.delay = 1h}).outcome, PutOutcome::created);
       },
       [](Scene& s) { return s.stats().scheduled - 1; }},
      {"put_many", "duly_put", Again::safe,
       [](Scene& s) {
         const auto results = s.client.put("mail", std::vector<NewJob>(2, NewJob{.delay = 1h}));
         for (const PutResult& result : results) {
           if (result.error) throw Error(*result.error);
           EXPECT_EQ(result.outcome, PutOutcome::created);
         }
       },
       [](Scene& s) { return (s.stats().scheduled - 1) / 2; }},
      {"put_all", "duly_put", Again::safe,
       [](Scene& s) {
         const auto results = s.client.put("mail", std::vector<NewJob>(2, NewJob{.delay = 1h}),
                                           PutMode::all_or_nothing);
         for (const PutResult& result : results) EXPECT_EQ(result.outcome, PutOutcome::created);
       },
       [](Scene& s) { return (s.stats().scheduled - 1) / 2; }},
      {"claim", "duly_claim", Again::safe,
       [](Scene& s) { EXPECT_EQ(s.client.claim("mail").size(), 1U); },
       [](Scene& s) { return s.stats().totals.claimed - 2; }},
      {"ack", "duly_ack", Again::settled,
       [](Scene& s) { EXPECT_EQ(s.client.ack(s.active), LeaseOutcome::acked); },
       [](Scene& s) { return s.stats().totals.acked; }},
      {"fail", "duly_fail", Again::settled,
       [](Scene& s) { EXPECT_EQ(s.client.fail(s.active), LeaseOutcome::failed); },
       [](Scene& s) { return std::uint64_t{s.find("active")->failures}; }},
      {"release", "duly_release", Again::settled,
       [](Scene& s) { EXPECT_EQ(s.client.release(s.active), LeaseOutcome::released); },
       [](Scene& s) { return s.stats().totals.released; }},
      {"extend", "duly_extend", Again::safe,
       [](Scene& s) { EXPECT_EQ(s.client.extend(s.active, 2h), LeaseOutcome::extended); },
       [](Scene& s) { return once(s.active_lease_ms() > 3'600'000); }},
      {"cancel", "duly_cancel", Again::never, [](Scene& s) { s.admin.cancel("mail", kWaiting); },
       [](Scene& s) { return s.stats().totals.cancelled; }},
      {"reschedule", "duly_reschedule", Again::never,
       [](Scene& s) { s.admin.reschedule("mail", kWaiting, 5h); },
       [](Scene& s) { return once(s.find("waiting")->due_at > s.find("waiting")->put_at + 4h); }},
      {"run_now", "duly_run_now", Again::never, [](Scene& s) { s.admin.run_now("mail", kWaiting); },
       [](Scene& s) { return once(s.find("waiting")->state == JobState::ready); }},
      {"edit", "duly_edit", Again::safe,
       [](Scene& s) { EXPECT_EQ(s.admin.edit("mail", kWaiting, "new"), ChangeOutcome::done); },
       [](Scene& s) { return once(s.find("waiting")->payload == "new"); }},
      {"replay", "duly_replay", Again::never, [](Scene& s) { s.admin.replay("mail", {kDead}); },
       [](Scene& s) { return s.stats().totals.replayed; }},
      {"replay_all", "duly_replay", Again::never, [](Scene& s) { s.admin.replay_all("mail"); },
       [](Scene& s) { return s.stats().totals.replayed; }},
      {"purge", "duly_purge", Again::never, [](Scene& s) { s.admin.purge("mail", {kDead}); },
       [](Scene& s) { return s.stats().totals.purged; }},
      {"purge_all", "duly_purge", Again::never, [](Scene& s) { s.admin.purge_all("mail"); },
       [](Scene& s) { return s.stats().totals.purged; }},
      {"set_limits", "duly_limits", Again::safe,
       [](Scene& s) { s.admin.set_limits("mail", {.length = 5}); },
       [](Scene& s) { return once(s.look.limits("mail").length == 5); }},
      {"pause", "duly_pause", Again::safe, [](Scene& s) { s.admin.pause("mail"); },
       [](Scene& s) { return once(s.stats().is_paused); }},
  };
  return all;
}

class EachOperation : public ::testing::TestWithParam<Operation> {
 protected:
  // The code of the error that came; empty for success.
  std::string act() {
    try {
      GetParam().act(scene_);
      return "";
    } catch (const Error& error) {
      return std::string(to_string(error.code()));
    }
  }
  std::uint64_t effects() { return GetParam().effects(scene_); }

  Scene scene_;
};

TEST_P(EachOperation, CutBeforeRedisGotIt) {
  scene_.proxy.cut(Cut::before_forward, GetParam().word);

  const std::string error = act();

  EXPECT_EQ(scene_.proxy.cuts(), 1);
  EXPECT_EQ(error, GetParam().again == Again::never ? "outcome_unknown" : "");
  EXPECT_EQ(effects(), GetParam().again == Again::never ? 0U : 1U);
}

TEST_P(EachOperation, CutBeforeItsAnswerCame) {
  scene_.proxy.cut(Cut::after_forward, GetParam().word);

  const std::string error = act();

  EXPECT_EQ(scene_.proxy.cuts(), 1);
  EXPECT_EQ(error, GetParam().again == Again::safe ? "" : "outcome_unknown");
  EXPECT_EQ(effects(), 1U);
}

TEST_P(EachOperation, CutInTheMiddleOfItsAnswer) {
  scene_.proxy.cut(Cut::mid_reply, GetParam().word);

  const std::string error = act();

  EXPECT_EQ(scene_.proxy.cuts(), 1);
  EXPECT_EQ(error, GetParam().again == Again::safe ? "" : "outcome_unknown");
  EXPECT_EQ(effects(), 1U);
}

INSTANTIATE_TEST_SUITE_P(LinkCut, EachOperation, ::testing::ValuesIn(changes()),
                         [](const auto& one) { return std::string(one.param.name); });

class EachLook : public ::testing::TestWithParam<Cut> {};

TEST_P(EachLook, IsRepeatedAndNeverUnknown) {
  Scene scene;
  scene.proxy.cut(GetParam(), "duly_find");
  EXPECT_TRUE(scene.admin.find("mail", JobId("ready")));
  scene.proxy.cut(GetParam(), "duly_list");
  EXPECT_EQ(scene.admin.list("mail", JobState::dead).jobs.size(), 1U);
  scene.proxy.cut(GetParam(), "duly_stats");
  EXPECT_EQ(scene.admin.stats("mail").ready, 1U);
  scene.proxy.cut(GetParam(), "SMEMBERS");
  EXPECT_THAT(scene.admin.queues(), ::testing::ElementsAre(QueueName("mail")));
  scene.proxy.cut(GetParam(), "PING");
  EXPECT_GT(scene.admin.ping(), 0ns);

  EXPECT_EQ(scene.proxy.cuts(), 5);
}

INSTANTIATE_TEST_SUITE_P(LinkCut, EachLook,
                         ::testing::Values(Cut::before_forward, Cut::after_forward,
                                           Cut::mid_reply));

// The link stays down: what a try may have done is not denied because the last one could not leave.
TEST(LinkCut, WhatMayHaveHappenedIsUnknownHoweverTheRepeatEnds) {
  Scene scene;
  Client impatient(Connection({.redis = scene.proxy.url(), .timeout = 1s}));
  impatient.claim("mail");
  scene.proxy.cut(Cut::after_forward, "duly_put");
  std::string code;
  try {
    auto put = impatient.put_async("mail", NewJob{.delay = 1h, .id = JobId("new")});
    EXPECT_TRUE(eventually([&] { return scene.proxy.cuts() == 1; }));
    scene.proxy.refuse(true);
    put.get();
  } catch (const Error& error) {
    code = to_string(error.code());
  }

  EXPECT_EQ(code, "outcome_unknown");
  EXPECT_TRUE(scene.find("new"));
}

TEST(LinkCut, WhatNeverLeftIsUnavailable) {
  Scene scene;
  Client impatient(Connection({.redis = scene.proxy.url(), .timeout = 500ms}));
  scene.proxy.refuse(true);
  std::string code;
  try {
    impatient.put("mail", NewJob{.delay = 1h, .id = JobId("new")});
  } catch (const Error& error) {
    code = to_string(error.code());
  }
  scene.proxy.refuse(false);

  EXPECT_EQ(code, "unavailable");
  EXPECT_EQ(impatient.put("mail", NewJob{.delay = 1h, .id = JobId("other")}).outcome,
            PutOutcome::created);
  EXPECT_FALSE(scene.find("new"));
}

TEST(LinkCut, SilenceEndsAtTheTimeLimitAndTheNextCallWorks) {
  Scene scene;
  Client impatient(Connection({.redis = scene.proxy.url(), .timeout = 500ms}));
  impatient.claim("mail");
  scene.proxy.cut(Cut::swallow, "duly_put");
  std::string code;
  try {
    impatient.put("mail", NewJob{.delay = 1h});
  } catch (const Error& error) {
    code = to_string(error.code());
  }

  EXPECT_EQ(code, "outcome_unknown");
  Client patient(Connection({.redis = scene.proxy.url(), .timeout = 5s}));
  EXPECT_EQ(patient.put("mail", NewJob{.delay = 1h}).outcome, PutOutcome::created);
}

}  // namespace
}  // namespace duly::testing
