#include "src/redis/link.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace duly::redis {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

// One gather write: large enough to fill a socket buffer, small enough to keep latency even.
constexpr std::size_t kBuffersPerWrite = 64;
constexpr std::size_t kBytesPerWrite = 1024UL * 1024;
// A connection on which nothing at all has come for so long, though a reply is overdue, is dead.
constexpr std::chrono::seconds kSilence{1};

}  // namespace

Link::Link(Io& io, LinkOptions options)
    : io_(io),
      context_(io.impl().context),
      options_(std::move(options)),
      address_(options_.url.address()),
      deadline_timer_(context_),
      pause_timer_(context_),
      outage_(options_.log, address_) {}

void Link::send(Command command, SteadyTime deadline, OnEnding on_ending) {
  Request request{.command = std::move(command),
                  .head = {},
                  .deadline = deadline,
                  .on_ending = std::move(on_ending)};
  request.bytes = request.command.bytes();
  if (const std::string reached = limit_reached(request.bytes); !reached.empty()) {
    io_.post([on_ending = std::move(request.on_ending), reached] {
      on_ending({.kind = Ending::Kind::not_done, .reason = reached});
    });
    return;
  }
  ++requests_;
  bytes_ += request.bytes;
  request.head = request.command.head();
  const std::lock_guard lock(mutex_);
  inbox_.push_back(std::move(request));
  if (std::exchange(is_drain_posted_, true)) return;
  io_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->drain_inbox();
  });
}

std::string Link::limit_reached(std::size_t bytes) const {
  if (const std::size_t now = requests_; now >= options_.requests_in_flight) {
    return address_ + ": " + std::to_string(now) + " requests in flight, limit " +
           std::to_string(options_.requests_in_flight);
  }
  // One that is larger by itself may go alone.
  if (const std::size_t now = bytes_; now > 0 && now + bytes > options_.bytes_in_flight) {
    return address_ + ": " + std::to_string(now) + " bytes in flight, limit " +
           std::to_string(options_.bytes_in_flight);
  }
  return {};
}

void Link::drain_inbox() {
  std::vector<Request> requests;
  {
    const std::lock_guard lock(mutex_);
    requests.swap(inbox_);
    is_drain_posted_ = false;
  }
  for (Request& request : requests) {
    if (is_closed_) {
      end(request, {.kind = Ending::Kind::not_done, .reason = address_ + ": connection closed"});
      continue;
    }
    watch_deadline(request.deadline);
    waiting_.push_back(std::move(request));
  }
  if (is_closed_) return;
  if (session_) {
    start_writing();
  } else if (!std::exchange(is_running_, true)) {
    asio::co_spawn(context_, [self = shared_from_this()] { return self->run(); }, asio::detached);
  }
}

asio::awaitable<void> Link::run() {
  while (!is_closed_) {
    auto session = std::make_shared<Session>(context_, options_);
    try {
      co_await session->open();
    } catch (const SessionError& error) {
      trouble_ = error.what();
      outage_.failed(trouble_);
      if (error.kind() == SessionError::Kind::refused) refuse_waiting(trouble_);
    }
    if (trouble_.empty() && !is_closed_) {
      ++generation_;
      retry_.reset();
      outage_.over();
      session_ = session;
      last_read_at_ = steady_clock::now();
      start_writing();
      co_await read_replies(session);
    }
    trouble_.clear();
    if (!is_closed_) co_await pause();
  }
}

asio::awaitable<void> Link::pause() {
  pause_timer_.expires_after(retry_.next());
  boost::system::error_code ignored;
  co_await pause_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<void> Link::read_replies(std::shared_ptr<Session> session) {
  try {
    while (true) {
      Reply reply = co_await session->read();
      last_read_at_ = steady_clock::now();
      do {
        on_reply(std::move(reply));
      } while (session->take_received(reply));
    }
  } catch (const SessionError& error) {
    on_broken(error.what());
  }
}

void Link::on_reply(Reply reply) {
  if (written_.empty()) return;
  Request request = std::move(written_.front());
  written_.pop_front();
  end(request, {.kind = Ending::Kind::done, .reply = std::move(reply)});
}

void Link::on_broken(const std::string& why) {
  if (!session_) return;
  session_->close();
  session_.reset();
  outage_.failed(why);
  for (Request& request : std::exchange(written_, {})) {
    end(request, {.kind = Ending::Kind::unknown, .reason = address_ + ": " + why});
  }
}

void Link::refuse_waiting(const std::string& why) {
  for (Request& request : std::exchange(waiting_, {})) {
    end(request, {.kind = Ending::Kind::not_done, .reason = address_ + ": " + why});
  }
}

void Link::start_writing() {
  if (waiting_.empty() || std::exchange(is_writing_, true)) return;
  asio::co_spawn(
      context_, [self = shared_from_this(), session = session_] { return self->write_all(session); },
      asio::detached);
}

asio::awaitable<void> Link::write_all(std::shared_ptr<Session> session) {
  // The requests of one write, whose bytes must stay in place: a deque keeps what is pushed and popped elsewhere.
  std::vector<std::pair<std::string, Command>> kept;
  std::vector<asio::const_buffer> buffers;
  while (session == session_ && !waiting_.empty()) {
    kept.clear();
    std::size_t bytes = 0;
    const SteadyTime now = steady_clock::now();
    while (!waiting_.empty() && kept.size() * 2 < kBuffersPerWrite && bytes < kBytesPerWrite) {
      Request request = std::move(waiting_.front());
      waiting_.pop_front();
      bytes += request.bytes;
      kept.emplace_back(std::move(request.head), std::move(request.command));
      request.written_at = now;
      written_.push_back(std::move(request));
    }
    buffers.clear();
    for (const auto& [head, command] : kept) {
      buffers.push_back(asio::buffer(head));
      buffers.push_back(asio::buffer(command.body()));
    }
    try {
      co_await session->write(buffers);
    } catch (const SessionError& error) {
      if (session == session_) on_broken(error.what());
    }
  }
  is_writing_ = false;
  // A new connection may have come while the old one's write was ending.
  if (session_) start_writing();
}

void Link::watch_deadline(SteadyTime deadline) {
  if (deadline >= next_deadline_) return;
  next_deadline_ = deadline;
  deadline_timer_.expires_at(deadline);
  deadline_timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (!error && self) self->sweep();
  });
}

// Looks at all requests when the earliest deadline has passed: rare, as most calls end long before.
void Link::sweep() {
  const SteadyTime now = steady_clock::now();
  next_deadline_ = SteadyTime::max();
  SteadyTime earliest = SteadyTime::max();
  std::vector<Request> late;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->deadline <= now) {
      late.push_back(std::move(*it));
      it = waiting_.erase(it);
    } else {
      earliest = std::min(earliest, it->deadline);
      ++it;
    }
  }
  bool is_dead = false;
  std::vector<OnEnding> unknown;
  for (Request& request : written_) {
    if (!request.on_ending) continue;
    if (request.deadline > now) {
      earliest = std::min(earliest, request.deadline);
      continue;
    }
    is_dead = is_dead || (last_read_at_ < request.written_at && now - request.written_at >= kSilence);
    unknown.push_back(std::exchange(request.on_ending, {}));
  }
  if (earliest != SteadyTime::max()) watch_deadline(earliest);
  const std::string why = trouble_.empty() ? "no connection yet" : trouble_;
  for (Request& request : late) {
    end(request, {.kind = Ending::Kind::not_done, .reason = address_ + ": timed out, not sent: " + why});
  }
  for (const OnEnding& on_ending : unknown) {
    on_ending({.kind = Ending::Kind::unknown, .reason = address_ + ": timed out, no answer"});
  }
  if (is_dead) on_broken("no answer");
}

void Link::end(Request& request, Ending ending) {
  --requests_;
  bytes_ -= request.bytes;
  if (request.on_ending) request.on_ending(std::move(ending));
}

void Link::close() {
  is_closed_ = true;
  pause_timer_.cancel();
  drain_inbox();
  refuse_waiting("connection closed");
  on_broken("connection closed");
}

}  // namespace duly::redis
