#include "src/worker/upkeep.h"

#include <map>
#include <string>
#include <utility>

#include "src/client/check_run.h"

namespace duly {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstLook{1'000};
constexpr milliseconds kLeastWait{20'000};
constexpr milliseconds kMostWait{35'000};
// Whoever looks first looks for all.
constexpr milliseconds kEvery{15'000};
// A repair may have millions of entries to look at, and nobody waits for it.
constexpr milliseconds kBetweenPieces{10};

std::string summary_of(const CheckReport& report) {
  std::map<Damage, std::uint64_t> counts;
  for (const auto& finding : report.findings) ++counts[finding.damage];
  std::string text;
  for (const auto& [damage, count] : counts) {
    text +=
        (text.empty() ? "" : ", ") + std::string(to_string(damage)) + " " + std::to_string(count);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

Upkeep::Upkeep(std::shared_ptr<Connection::Shared> shared, std::vector<QueueName> queues)
    : shared_(std::move(shared)),
      queues_(std::move(queues)),
      timer_(shared_->io.make_timer()),
      pause_(shared_->io.make_timer()),
      random_(static_cast<std::minstd_rand::result_type>(std::random_device{}())) {}

void Upkeep::start() { look_later(milliseconds{0}, kFirstLook); }

void Upkeep::look_later(milliseconds least, milliseconds most) {
  const milliseconds wait{
      std::uniform_int_distribution<std::int64_t>(least.count(), most.count())(random_)};
  timer_->arm(steady_clock::now() + wait, [this] {
    for (const QueueName& queue : queues_) {
      look(queue);
      look_at_dead_letters(queue);
    }
    look_later(kLeastWait, kMostWait);
  });
}

// An error is no matter here: claims meet the same and tell.
void Upkeep::look(const QueueName& queue) {
  shared_->engine->check(
      queue, {.part = "summary", .mode = CheckMode::repair, .every = kEvery}, shared_->deadline(),
      [this, queue, weak = std::weak_ptr(alive_)](Result<CheckPiece> result) {
        if (weak.expired() || !result.ok() || result.value().findings.empty()) return;
        shared_->log(LogLevel::warning, "queue " + queue.text() + ": " +
                                            result.value().findings.front().what +
                                            ", expected equal counts; looking for the damage");
        repair(queue);
      });
}

void Upkeep::look_at_dead_letters(const QueueName& queue) {
  shared_->engine->stats(
      queue, shared_->deadline(),
      [this, queue, weak = std::weak_ptr(alive_)](const Result<QueueStats>& result) {
        if (weak.expired() || !result.ok()) return;
        if (const auto text = dead_letters_[queue].look(result.value())) {
          shared_->log(LogLevel::warning, *text);
        }
      });
}

// One queue at a time; another one is found again at the next look.
void Upkeep::repair(const QueueName& queue) {
  if (std::exchange(is_repairing_, true)) return;
  run_check(shared_->engine,
            {.queue = queue,
             .mode = CheckMode::repair,
             .deadline = [shared = shared_] { return shared->deadline(); },
             .pause =
                 [this, weak = std::weak_ptr(alive_)](std::function<void()> go_on) {
                   if (!weak.expired())
                     pause_->arm(steady_clock::now() + kBetweenPieces, std::move(go_on));
                 }},
            [this, weak = std::weak_ptr(alive_)](const Result<CheckReport>& result) {
              if (weak.expired()) return;
              is_repairing_ = false;
              if (!result.ok()) return;
              const CheckReport& report = result.value();
              shared_->log(LogLevel::warning,
                           "queue " + report.queue.text() + ": mended " + summary_of(report));
            });
}

}  // namespace duly
