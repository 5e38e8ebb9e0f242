#include "src/worker/claims.h"

#include <algorithm>
#include <utility>

#include "src/client/examine.h"

namespace duly {
namespace {

// Every worker looks by itself now and then: messages only make things faster.
constexpr std::chrono::milliseconds kSafetyLook{1000};
constexpr std::chrono::milliseconds kClaimAgain{200};
// A job that waits for so long has no keeper to look after it (OVERDUE_MS of wake.lua, and a bit).
constexpr std::chrono::milliseconds kOverdue{25};
constexpr std::chrono::milliseconds kSecondLook{100};
// For the word to the other workers that this one leaves; without it they notice by themselves.
constexpr std::chrono::milliseconds kFarewell{500};

}  // namespace

// One queue.
struct Claims::Line {
  QueueName queue;
  std::size_t position = 0;  // in the options, and in shares_
  std::unique_ptr<Watch> watch;
  std::unique_ptr<redis::Io::Timer> timer;
  SteadyTime look_at = SteadyTime::max();  // of the timer
  LeaseToken token{};                      // of a claim whose outcome is unknown, to be repeated
  bool wants = false;                      // there may be jobs, or it is not parked
  bool has_more = false;                   // the last claim left some
  bool is_parked = false;                  // others count on us to look
  bool is_claiming = false;
  bool is_failing = false;
};

Claims::Claims(std::shared_ptr<Connection::Shared> shared, const WorkerOptions& options,
               Hooks hooks)
    : shared_(std::move(shared)),
      lease_(options.lease),
      hooks_(std::move(hooks)),
      shares_(options.queues, options.order),
      demand_(options.queues.size()),
      random_(static_cast<std::minstd_rand::result_type>(std::random_device{}())) {
  for (const WorkerQueue& queue : options.queues) {
    auto line = std::make_shared<Line>();
    line->queue = queue.name;
    line->position = lines_.size();
    line->timer = shared_->io.make_timer();
    lines_.push_back(std::move(line));
  }
}

Claims::~Claims() = default;

void Claims::start() {
  for (const auto& line : lines_) {
    line->watch = shared_->engine->watch(
        line->queue, [this, weak = std::weak_ptr(alive_), line = std::weak_ptr(line)](
                         std::optional<std::chrono::microseconds> next_in) {
          const auto still = line.lock();
          if (weak.expired() || !still || is_stopped_) return;
          if (next_in && *next_in > std::chrono::microseconds{0}) {
            const SteadyTime when = std::chrono::steady_clock::now() + *next_in;
            if (when < still->look_at) look_later(still, when);
            return;
          }
          still->wants = true;
          pump();
        });
    line->wants = true;
  }
  pump();
}

void Claims::pump() {
  if (is_stopped_) return;
  bool is_any_waiting = false;
  for (const auto& line : lines_) {
    Shares::Demand demand = Shares::Demand::none;
    if (line->is_claiming) {
      if (line->has_more) demand = Shares::Demand::asked;
    } else if (line->wants) {
      demand = Shares::Demand::waiting;
      is_any_waiting = true;
    }
    demand_[line->position] = demand;
  }
  if (!is_any_waiting) return;
  const std::size_t room = hooks_.room();
  const auto& grants = shares_.part(room - std::min(room, asked_), demand_);
  for (const auto& line : lines_) {
    if (demand_[line->position] != Shares::Demand::waiting) continue;
    if (grants[line->position] > 0) {
      claim(line, grants[line->position]);
    } else if (std::exchange(line->is_parked, false)) {
      leave(*line);  // There may be jobs, and no room: another worker is to look.
    }
  }
}

void Claims::leave(const Line& line) {
  ++asked_calls_;
  shared_->engine->claim(
      line.queue,
      {.most = 0, .lease = lease_, .token = shared_->ids.token(), .waiter = line.watch->waiter()},
      std::chrono::steady_clock::now() + kFarewell,
      [this, weak = std::weak_ptr(alive_)](const Result<ClaimReply>&) {
        if (weak.expired()) return;
        --asked_calls_;
        hooks_.on_tasks({});
      });
}

void Claims::claim(const std::shared_ptr<Line>& line, std::size_t most) {
  line->wants = false;
  line->is_claiming = true;
  line->timer->cancel();
  line->look_at = SteadyTime::max();
  if (line->token.empty()) line->token = shared_->ids.token();
  asked_ += most;
  shares_.ask(line->position, most);
  ++asked_calls_;
  ++calls_;
  shared_->engine->claim(
      line->queue,
      {.most = most, .lease = lease_, .token = line->token, .waiter = line->watch->waiter()},
      shared_->deadline(),
      [this, weak = std::weak_ptr(alive_), line, most,
       sent_at = std::chrono::steady_clock::now()](Result<ClaimReply> result) {
        if (!weak.expired()) on_reply(line, most, sent_at, std::move(result));
      });
}

void Claims::on_reply(const std::shared_ptr<Line>& line, std::size_t asked, SteadyTime sent_at,
                      Result<ClaimReply> result) {
  const SteadyTime now = std::chrono::steady_clock::now();
  asked_ -= asked;
  --asked_calls_;
  line->is_claiming = false;
  shares_.answer(line->position, asked, result.ok() ? result.value().jobs.size() : 0);
  line->has_more = result.ok() && !result.value().is_parked;
  if (!result.ok()) {
    if (!line->is_failing) {
      shared_->log(LogLevel::warning, "queue " + line->queue.text() + ": " + result.error().what());
    }
    line->is_failing = true;
    // With the same token: if the claim was made after all, its jobs are answered then.
    if (result.error().code() != ErrorCode::outcome_unknown) line->token = {};
    if (!is_stopped_) look_later(line, now + kClaimAgain);
    return hooks_.on_tasks({});
  }
  if (std::exchange(line->is_failing, false)) {
    shared_->log(LogLevel::info, "queue " + line->queue.text() + ": claims work again");
  }
  warn_of_eviction(shared_);
  line->token = {};
  ClaimReply reply = std::move(result).value();
  // Redis's clock was read about half-way between the call and its answer.
  const SteadyTime claimed_at = sent_at + (now - sent_at) / 2;
  std::vector<TaskPtr> tasks;
  tasks.reserve(reply.jobs.size());
  for (ActiveJob& job : reply.jobs) {
    auto task = std::make_shared<Task>();
    task->job = std::move(job);
    task->queue = line->position;
    task->claimed_at = claimed_at;
    task->claimed_at_redis = reply.now;
    tasks.push_back(std::move(task));
  }
  line->is_parked = reply.is_parked;
  if (is_stopped_ || !reply.is_parked) {
    line->wants = true;
  } else {
    SteadyTime look_at = safety_look();
    if (reply.next_in) {
      look_at = std::min(
          look_at, claimed_at + *reply.next_in +
                       (reply.is_keeper ? std::chrono::microseconds{0} : second_look(reply.idle)));
    }
    if (look_at < line->look_at) look_later(line, look_at);
  }
  hooks_.on_tasks(std::move(tasks));
  pump();
}

void Claims::look_later(const std::shared_ptr<Line>& line, SteadyTime when) {
  line->look_at = when;
  line->timer->arm(when, [this, weak = std::weak_ptr(line)] {
    const auto still = weak.lock();
    if (!still || is_stopped_) return;
    still->look_at = SteadyTime::max();
    still->wants = true;
    pump();
  });
}

SteadyTime Claims::safety_look() {
  return std::chrono::steady_clock::now() + kSafetyLook +
         std::chrono::milliseconds{std::uniform_int_distribution<int>(0, 1000)(random_)};
}

// A keeper that has died leaves its job waiting. So each idle worker looks a little later, at
// random, the more of them there are the rarer: together about ten times a second while jobs are
// due, whatever their number.
std::chrono::microseconds Claims::second_look(std::size_t idle) {
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(idle, 1)) * kSecondLook.count();
  return kOverdue +
         std::chrono::milliseconds{std::uniform_int_distribution<std::int64_t>(0, most)(random_)};
}

void Claims::stop() {
  if (std::exchange(is_stopped_, true)) return;
  for (const auto& line : lines_) {
    line->timer->cancel();
    if (!line->watch) continue;
    leave(*line);
    line->watch.reset();
  }
}

}  // namespace duly
