// How the requests of a link end: at their deadlines, and by word of the rest of it.
#include <algorithm>
#include <utility>

#include "src/redis/link.h"

namespace duly::redis {
namespace {

using boost::system::error_code;
using std::chrono::steady_clock;

// A connection on which nothing at all has come for so long, though a reply is overdue, is dead.
constexpr std::chrono::seconds kSilence{1};
// Deadlines are kept to this, so that many different ones do not mean as many looks at all
// requests.
constexpr std::chrono::milliseconds kBetweenSweeps{5};

}  // namespace

void Link::watch_deadline(SteadyTime deadline) {
  if (deadline >= next_deadline_) return;
  next_deadline_ = deadline;
  deadline_timer_.expires_at(std::max(deadline, swept_at_ + kBetweenSweeps));
  deadline_timer_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!error && self) self->sweep();
  });
}

// Looks at all requests when the earliest deadline has passed: rare, as most calls end long before.
void Link::sweep() {
  const SteadyTime now = steady_clock::now();
  swept_at_ = now;
  next_deadline_ = SteadyTime::max();
  SteadyTime look_at = SteadyTime::max();

  std::vector<Request> unsent;
  auto kept = waiting_.begin();
  for (Request& request : waiting_) {
    if (request.deadline <= now) {
      unsent.push_back(std::move(request));
      continue;
    }
    look_at = std::min(look_at, request.deadline);
    if (&*kept != &request) *kept = std::move(request);
    ++kept;
  }
  waiting_.erase(kept, waiting_.end());

  // What has left keeps its place in the row, for its reply may still come.
  std::vector<OnEnding> unanswered;
  bool has_died = false;
  for (Request& request : written_) {
    if (request.deadline > now) {
      look_at = std::min(look_at, request.deadline);
      continue;
    }
    if (request.on_ending) unanswered.push_back(std::exchange(request.on_ending, {}));
    has_died = has_died || is_dead(request, now, look_at);
  }
  if (look_at != SteadyTime::max()) watch_deadline(look_at);

  const bool is_busy = session_ && !is_leaving_;
  const Trouble trouble = is_busy ? Trouble::slow : trouble_;
  const std::string why = is_busy        ? "the connection was busy"
                          : why_.empty() ? "no connection yet"
                                         : why_;
  for (Request& request : unsent) end_unsent(std::move(request), trouble, why);
  // These count on, until their replies have been swallowed.
  for (const OnEnding& on_ending : unanswered) {
    call(on_ending, {.kind = Ending::Kind::unknown,
                     .reason = address_ + ": timed out, no answer",
                     .trouble = Trouble::slow});
  }
  if (has_died) break_off(Trouble::silent, "connection ended: no answer");
}

// Whether the server has been silent for too long; else when to look again.
bool Link::is_dead(const Request& overdue, SteadyTime now, SteadyTime& look_at) const {
  if (!session_) return false;
  const SteadyTime dead_at = std::max(overdue.written_at, session_->heard_at()) + kSilence;
  if (dead_at <= now) return true;
  look_at = std::min(look_at, dead_at);
  return false;
}

void Link::refuse_waiting(Trouble trouble, const std::string& why) {
  for (Request& request : std::exchange(waiting_, {})) {
    end(request,
        {.kind = Ending::Kind::not_done, .reason = address_ + ": " + why, .trouble = trouble});
  }
}

void Link::end_unsent(Request request, Trouble trouble, const std::string& why) noexcept {
  end(request, {.kind = Ending::Kind::not_done,
                .reason = address_ + ": timed out, not sent: " + why,
                .trouble = trouble});
}

void Link::end(Request& request, Ending ending) noexcept {
  --requests_;
  bytes_ -= request.bytes;
  if (request.on_ending) call(request.on_ending, std::move(ending));
}

}  // namespace duly::redis
