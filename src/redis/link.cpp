#include "src/redis/link.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "src/redis/spawn.h"

namespace duly::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::steady_clock;

// One write: large enough to fill a socket buffer, small enough to keep latency even.
constexpr std::size_t kBuffersPerWrite = 64;
constexpr std::size_t kBytesPerWrite = 1024UL * 1024;
// Shorter bodies are copied together: that is cheaper than one more buffer for the kernel to
// gather.
constexpr std::size_t kCopiedBytes = 2048;
constexpr std::size_t kRequestsPerWrite = 1024;

constexpr const char* kClosed = "connection closed";

}  // namespace

// ---- Taking requests in, on any thread ----

Link::Link(Io& io, LinkOptions options)
    : io_(io),
      context_(io.impl().context),
      options_(std::move(options)),
      address_(options_.url.address()),
      deadline_timer_(context_),
      pause_timer_(context_),
      writing_over_(context_, SteadyTime::max()),
      outage_(options_.log, address_) {}

void Link::send(Command command, SteadyTime deadline, OnEnding on_ending) {
  Request request{
      .command = std::move(command), .deadline = deadline, .on_ending = std::move(on_ending)};
  request.bytes = request.command.bytes();
  std::unique_lock lock(mutex_);
  if (const std::string reached = limit_reached(request.bytes); !reached.empty()) {
    lock.unlock();
    io_.post([on_ending = std::move(request.on_ending), reason = address_ + ": " + reached] {
      call(on_ending, {.kind = Ending::Kind::not_done, .reason = reason, .trouble = Trouble::slow});
    });
    return;
  }
  ++requests_;
  bytes_ += request.bytes;
  inbox_.push_back(std::move(request));
  if (std::exchange(is_drain_posted_, true)) return;
  lock.unlock();
  io_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->drain_inbox();
  });
}

std::string Link::limit_reached(std::size_t bytes) const {
  if (const std::size_t now = requests_; now >= options_.requests_in_flight) {
    return std::to_string(now) + " requests in flight, limit " +
           std::to_string(options_.requests_in_flight);
  }
  // One that is larger by itself may go alone.
  if (const std::size_t now = bytes_; now > 0 && now + bytes > options_.bytes_in_flight) {
    return std::to_string(now) + " bytes in flight, limit " +
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
    watch_deadline(request.deadline);
    waiting_.push_back(std::move(request));
  }
  if (is_closed_) return refuse_waiting(Trouble::closed, kClosed);
  if (session_) {
    start_writing();
  } else if (!requests.empty() && !std::exchange(is_running_, true)) {
    spawn(context_, [self = shared_from_this()] { return self->run(); });
  }
}

// ---- Connections, one after the other ----

asio::awaitable<void> Link::run() {
  while (!is_closed_) {
    opening_ = std::make_shared<Session>(context_, options_);
    try {
      co_await opening_->open();
      why_.clear();
    } catch (const SessionError& error) {
      trouble_ = error.trouble();
      why_ = error.what();
      if (error.is_final()) refuse_waiting(trouble_, why_);
    }
    auto session = std::exchange(opening_, nullptr);
    if (is_closed_) break;
    if (why_.empty()) {
      const SteadyTime since = steady_clock::now();
      co_await serve(std::move(session));
      retry_.lived(steady_clock::now() - since);
    }
    if (is_closed_) break;
    outage_.failed(why_);
    pause_timer_.expires_after(retry_.next());
    error_code ignored;
    co_await pause_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  refuse_waiting(Trouble::closed, kClosed);
}

// Until the connection has ended, and all that left on it.
asio::awaitable<void> Link::serve(std::shared_ptr<Session> session) {
  ++generation_;
  outage_.over();
  session_ = session;
  is_leaving_ = false;
  start_writing();
  const SessionError cause = co_await read_replies(session);
  trouble_ = cause.trouble();
  why_ = cause.what();
  break_off(trouble_, why_);
  // Only the writer knows which of its requests have not left after all.
  while (is_writing_) {
    error_code ignored;
    co_await writing_over_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  for (Request& request : std::exchange(written_, {})) {
    end(request,
        {.kind = Ending::Kind::unknown, .reason = address_ + ": " + why_, .trouble = trouble_});
  }
}

asio::awaitable<SessionError> Link::read_replies(std::shared_ptr<Session> session) {
  try {
    while (true) {
      Reply reply = co_await session->read();
      do {
        watch_state(reply);
        if (written_.empty()) {
          // "max number of clients" comes by itself, before the connection is closed.
          if (is_leaving_) throw SessionError(trouble_, why_);
          throw SessionError(Trouble::closed, "connection ended: a reply to nothing");
        }
        Request request = std::move(written_.front());
        written_.pop_front();
        end(request, {.kind = Ending::Kind::done, .reply = std::move(reply)});
        if (is_leaving_ && written_.empty() && !is_writing_) break_off(trouble_, why_);
      } while (session->take_received(reply));
    }
  } catch (const SessionError& error) {
    co_return error;
  }
}

// What a reply says of the state that the server is in.
void Link::watch_state(const Reply& reply) {
  if (!reply.is_error()) {
    if (std::exchange(is_passing_, false)) outage_.over("works again");
    return;
  }
  const Reaction reaction = reaction_to(reply);
  if (reaction == Reaction::reconnect) leave(reply);
  if (reaction != Reaction::wait) return;
  is_passing_ = true;
  outage_.failed(presentable(reply.text, options_.url));
}

// The server says that we are not right here: what has left is still answered, and the rest leaves
// on another connection.
void Link::leave(const Reply& error) {
  if (std::exchange(is_leaving_, true)) return;
  trouble_ = trouble_of(error);
  why_ = "connection left: " + presentable(error.text, options_.url);
}

// The reader sees the end of the session, and does the rest.
void Link::break_off(Trouble trouble, const std::string& why) {
  if (const auto session = std::exchange(session_, nullptr)) session->close(trouble, why);
}

void Link::close() {
  is_closed_ = true;
  pause_timer_.cancel();
  if (opening_) opening_->close(Trouble::closed, kClosed);
  break_off(Trouble::closed, kClosed);
  drain_inbox();
}

// ---- Writing ----

// The bytes of one write stay in place here: the requests themselves may be answered before it
// ends.
struct Link::Batch {
  struct Part {
    Command command;
    std::size_t begins_at;  // in the bytes of the write
  };
  struct Piece {
    const Command* large;  // its body; null for a part of `copied`
    std::size_t from;
    std::size_t to;
  };
  std::vector<Part> parts;
  std::string copied;  // heads, and bodies that are not large
  std::vector<Piece> pieces;
  std::vector<asio::const_buffer> buffers;
};

void Link::start_writing() {
  if (waiting_.empty() || is_leaving_ || std::exchange(is_writing_, true)) return;
  spawn(context_,
        [self = shared_from_this(), session = session_] { return self->write_all(session); });
}

asio::awaitable<void> Link::write_all(std::shared_ptr<Session> session) {
  Batch batch;
  while (session == session_ && !is_leaving_ && !waiting_.empty()) {
    fill(batch);
    if (batch.parts.empty()) continue;
    const Stream::Sent sent = co_await session->write(batch.buffers);
    if (!sent.error) continue;
    take_back(batch, sent.bytes);
    if (session == session_) {
      break_off(Trouble::closed, "connection ended: " + sent.error.message());
    }
  }
  is_writing_ = false;
  if (is_leaving_ && session == session_ && written_.empty()) break_off(trouble_, why_);
  writing_over_.cancel();
}

void Link::fill(Batch& batch) {
  batch.parts.clear();
  batch.copied.clear();
  batch.pieces.clear();
  batch.buffers.clear();
  const SteadyTime now = steady_clock::now();
  std::vector<Request> late;
  std::size_t bytes = 0;
  std::size_t cut = 0;  // where the copied bytes of the next piece begin
  const auto end_piece = [&] {
    if (cut < batch.copied.size()) batch.pieces.push_back({nullptr, cut, batch.copied.size()});
    cut = batch.copied.size();
  };
  // Parts must not move: large bodies are sent from where they are.
  batch.parts.reserve(kRequestsPerWrite);
  while (!waiting_.empty() && batch.parts.size() < kRequestsPerWrite && bytes < kBytesPerWrite &&
         batch.pieces.size() + 2 < kBuffersPerWrite) {
    Request request = std::move(waiting_.front());
    waiting_.pop_front();
    if (request.deadline <= now) {
      late.push_back(std::move(request));
      continue;
    }
    batch.parts.push_back({std::move(request.command), bytes});
    const Command& command = batch.parts.back().command;
    const std::size_t before = batch.copied.size();
    batch.copied += command.head();
    bytes += batch.copied.size() - before + command.body().size();
    if (command.body().size() <= kCopiedBytes) {
      batch.copied += command.body();
    } else {
      end_piece();
      batch.pieces.push_back({&command, 0, 0});
    }
    request.written_at = now;
    written_.push_back(std::move(request));
  }
  end_piece();
  for (const auto& [large, from, to] : batch.pieces) {
    batch.buffers.push_back(large != nullptr ? asio::buffer(large->body())
                                             : asio::buffer(batch.copied.data() + from, to - from));
  }
  for (Request& request : late) {
    end_unsent(std::move(request), Trouble::slow, "the connection was busy");
  }
}

// After a write that broke off: what has not begun to leave waits for the next connection.
void Link::take_back(Batch& batch, std::size_t bytes_left) {
  while (!batch.parts.empty() && batch.parts.back().begins_at >= bytes_left && !written_.empty()) {
    Request request = std::move(written_.back());
    written_.pop_back();
    request.command = std::move(batch.parts.back().command);
    batch.parts.pop_back();
    if (request.on_ending) {
      watch_deadline(request.deadline);
      waiting_.push_front(std::move(request));
    } else {
      end(request, {});
    }
  }
}

}  // namespace duly::redis
