#include <mutex>
#include <optional>
#include <vector>

#include "tests/contract/engine_contract.h"
#include "tests/support/eventually.h"

namespace duly::testing {
namespace {

using namespace std::chrono_literals;
using Wake = std::optional<std::chrono::microseconds>;

/// What one waiting process hears.
class Ear {
 public:
  std::function<void(Wake)> listener() {
    return [this](Wake next_in) {
      const std::lock_guard lock(mutex_);
      heard_.push_back(next_in);
    };
  }
  [[nodiscard]] std::vector<Wake> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  /// Whether it comes to hear this.
  [[nodiscard]] bool hears(Wake next_in) const {
    return eventually([&] {
      const auto all = heard();
      return std::find(all.begin(), all.end(), next_in) != all.end();
    });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Wake> heard_;
};

class EngineWake : public EngineContract {
 protected:
  ClaimReply claim_as(const Watch& watch, std::size_t most = 1) {
    return mail().claim(ClaimRequest{.most = most, .waiter = watch.waiter()});
  }
  Ear ear_;
};
INSTANTIATE_TEST_SUITE_P(Engines, EngineWake, every_engine(), kind_name);

TEST_P(EngineWake, WhoBeginsToWaitIsToldToClaimOnce) {
  const auto watch = engine().watch("mail", ear_.listener());

  EXPECT_TRUE(ear_.hears({}));
}

TEST_P(EngineWake, TheFirstToFindNothingIsTheKeeper) {
  NEEDS(has_keeper);
  const auto watch = engine().watch("mail", ear_.listener());
  ASSERT_TRUE(ear_.hears({}));

  const ClaimReply reply = claim_as(*watch);

  EXPECT_TRUE(reply.is_parked);
  EXPECT_TRUE(reply.is_keeper);
}

TEST_P(EngineWake, AClaimWithoutAWaiterParksNobody) {
  const ClaimReply reply = mail().claim(ClaimRequest{});

  EXPECT_FALSE(reply.is_parked);
  EXPECT_FALSE(reply.is_keeper);
}

TEST_P(EngineWake, TheKeeperHearsOfAJobThatIsDueBeforeAllOthers) {
  NEEDS(has_keeper);
  const auto watch = engine().watch("mail", ear_.listener());
  ASSERT_TRUE(ear_.hears({}));
  mail().put({.delay = 10min});
  ASSERT_TRUE(claim_as(*watch).is_keeper);

  mail().put({.delay = 20min});
  mail().put({.delay = 5min});

  EXPECT_TRUE(ear_.hears(5min));
  EXPECT_EQ(ear_.heard(), (std::vector<Wake>{{}, 5min}));
}

TEST_P(EngineWake, TheTimeThatAKeeperHearsIsInMicroseconds) {
  NEEDS(has_keeper);
  const auto watch = engine().watch("mail", ear_.listener());
  ASSERT_TRUE(ear_.hears({}));
  ASSERT_TRUE(claim_as(*watch).is_keeper);
  clock().advance(1'234'567us);

  mail().put({.due_at = clock().now() + 10s});

  EXPECT_TRUE(ear_.hears(10s - 567us));
}

TEST_P(EngineWake, TheKeeperHearsOfJobsThatComeBack) {
  NEEDS(has_leases);
  const auto watch = engine().watch("mail", ear_.listener());
  ASSERT_TRUE(ear_.hears({}));
  const ActiveJob released = put_and_claim({});
  const ActiveJob failed = put_and_claim({});
  put_and_kill({.id = "dead"_id});
  ASSERT_TRUE(claim_as(*watch).is_keeper);

  mail().fail(failed, {.retry_in = 3s});
  EXPECT_TRUE(ear_.hears(3s));
  mail().reschedule({.id = failed.id, .delay = 2s});
  EXPECT_TRUE(ear_.hears(2s));
  mail().release(released);
  EXPECT_TRUE(ear_.hears(0s));
  const std::size_t heard = ear_.heard().size();
  mail().ack(mail().claim_one());
  mail().replay("dead"_id);
  EXPECT_TRUE(eventually([&] { return ear_.heard().size() > heard; }));
}

TEST_P(EngineWake, AResumedQueueWakesItsKeeper) {
  NEEDS(has_keeper);
  const auto watch = engine().watch("mail", ear_.listener());
  ASSERT_TRUE(ear_.hears({}));
  mail().pause();
  mail().put({.delay = 1h});
  ASSERT_TRUE(claim_as(*watch).is_keeper);

  mail().resume();

  EXPECT_TRUE(ear_.hears(0s));
}

TEST_P(EngineWake, AKeeperThatTakesAllItCanHoldIsNotParked) {
  NEEDS(has_keeper);
  const auto watch = engine().watch("mail", ear_.listener());
  ASSERT_TRUE(ear_.hears({}));
  mail().put_all(std::vector<NewJob>(2));

  const ClaimReply full = claim_as(*watch, 2);

  EXPECT_EQ(full.jobs.size(), 2U);
  EXPECT_FALSE(full.is_parked);
}

TEST_P(EngineWake, AKeeperThatTakesFewerThanItCanHoldStaysParked) {
  NEEDS(has_keeper);
  const auto watch = engine().watch("mail", ear_.listener());
  ASSERT_TRUE(ear_.hears({}));
  mail().put({});

  const ClaimReply reply = claim_as(*watch, 2);

  EXPECT_EQ(reply.jobs.size(), 1U);
  EXPECT_TRUE(reply.is_keeper);
}

TEST_P(EngineWake, ClaimingNothingLeavesTheWaiting) {
  NEEDS(has_keeper);
  const auto watch = engine().watch("mail", ear_.listener());
  ASSERT_TRUE(ear_.hears({}));
  ASSERT_TRUE(claim_as(*watch).is_keeper);

  EXPECT_FALSE(claim_as(*watch, 0).is_parked);

  EXPECT_TRUE(mail().claim(ClaimRequest{.waiter = "another"}).is_keeper);
}

/// Several processes on one queue: each is an engine of its own.
class LeaseWake : public LeaseContract {
 protected:
  struct Process {
    std::shared_ptr<Engine> engine{};
    Ear ear{};
    std::unique_ptr<Watch> watch{};
  };
  std::unique_ptr<Process> start_process() {
    auto process = std::make_unique<Process>();
    process->engine = lease().make_engine({.parts = parts_with_manual_clock()});
    process->watch = process->engine->watch("mail", process->ear.listener());
    EXPECT_TRUE(process->ear.hears({}));
    return process;
  }
  ClaimReply claim_as(const Process& process, std::size_t most = 1) {
    clock().advance(1us);
    return mail().claim(ClaimRequest{.most = most, .waiter = process.watch->waiter()});
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, LeaseWake, lease_engines(), kind_name);

TEST_P(LeaseWake, TheSecondToFindNothingIsIdleAndHearsNothingOfPuts) {
  const auto keeper = start_process();
  const auto idle = start_process();
  ASSERT_TRUE(claim_as(*keeper).is_keeper);

  const ClaimReply reply = claim_as(*idle);

  EXPECT_TRUE(reply.is_parked);
  EXPECT_FALSE(reply.is_keeper);
  mail().put({.delay = 5min});
  EXPECT_TRUE(eventually([&] { return keeper->ear.heard().size() == 2; }));
  EXPECT_EQ(idle->ear.heard().size(), 1U);
}

TEST_P(LeaseWake, AKeeperThatIsFullHandsOverToAnIdleOneWithTheTimeToTheNextDueJob) {
  const auto keeper = start_process();
  const auto idle = start_process();
  ASSERT_TRUE(claim_as(*keeper).is_keeper);
  ASSERT_FALSE(claim_as(*idle).is_keeper);
  mail().put({.delay = 5min});
  mail().put({.due_at = clock().now() - 1ms});

  const ClaimReply reply = claim_as(*keeper);

  EXPECT_EQ(reply.jobs.size(), 1U);
  EXPECT_FALSE(reply.is_parked);
  EXPECT_TRUE(idle->ear.hears(reply.next_in));
}

TEST_P(LeaseWake, AKeeperThatHasGoneIsReplacedAtTheNextPut) {
  const auto keeper = start_process();
  const auto idle = start_process();
  ASSERT_TRUE(claim_as(*keeper).is_keeper);
  ASSERT_FALSE(claim_as(*idle).is_keeper);
  keeper->watch.reset();
  ASSERT_TRUE(eventually([&] {
    return lease().raw({"PUBSUB", "SHARDCHANNELS"}).items.size() == 1;
  }));

  mail().put({.delay = 5min});

  EXPECT_TRUE(eventually([&] { return idle->ear.heard().size() == 2; }));
}

TEST_P(LeaseWake, AnOverdueHeadIsHandedToAnIdleOne) {
  const auto keeper = start_process();
  const auto idle = start_process();
  mail().put({.delay = 1s});
  ASSERT_TRUE(claim_as(*keeper).is_keeper);
  ASSERT_FALSE(claim_as(*idle).is_keeper);
  clock().advance(1'025ms);

  mail().put({.delay = 1h});

  EXPECT_TRUE(idle->ear.hears(0s));
}

}  // namespace
}  // namespace duly::testing
