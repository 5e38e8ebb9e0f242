#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "duly/admin.h"
#include "src/core/result.h"
#include "src/engine/library_text.h"
#include "src/redis/topology.h"

namespace duly {

/// What to do when a call's outcome is unknown.
enum class Repeat {
  never,  ///< Tell the caller.
  safe,   ///< Send it again: doing it twice is doing it once.
  read,   ///< Send it again: it changes nothing, so its outcome is never unknown.
};

/// The function library in Redis: loads it when it is missing or older, and calls its functions —
/// by FCALL, or by EVALSHA where the server has or grants no functions. Safe from any thread.
class Library : public std::enable_shared_from_this<Library> {
 public:
  Library(redis::Io& io, std::shared_ptr<redis::Topology> topology,
          const std::vector<LibraryPart>& parts, std::string version);

  struct Call {
    std::string function;  ///< "duly_put".
    std::string route;     ///< A key of the shard, to find its server.
    redis::Command keys{};
    redis::Command arguments{};
    redis::SteadyTime deadline{};
    Repeat repeat = Repeat::never;
    /// Whether the reply to a repeat also tells what became of the try before, whose outcome is
    /// unknown. Empty: it does.
    std::function<bool(const redis::Reply&)> settles{};
  };

  /// Calls back on the connection's thread: the reply, never an error one; or the error. What the
  /// table of reactions says is done first, until the deadline.
  void call(Call call, Done<redis::Reply> done);
  /// Sends a command that changes nothing to the server of the set of queue names, in the same
  /// way; the reply may be an error one.
  void plain(redis::Command command, redis::SteadyTime deadline, Done<redis::Reply> done);

  void info(redis::SteadyTime deadline, Done<LibraryInfo> done);
  void load(redis::SteadyTime deadline, Done<Nothing> done);

 private:
  struct Pending;
  using Continue = std::function<void(const std::optional<Error>&)>;
  struct Waiter {
    redis::SteadyTime deadline;
    Continue then;
  };

  void send(std::shared_ptr<Pending> pending);
  static void end(const Pending& pending, const Error& error);
  void send_command(std::shared_ptr<Pending> pending, redis::Command command);
  void on_ending(const std::shared_ptr<Pending>& pending, redis::Ending ending);
  void send_later(const std::shared_ptr<Pending>& pending, const std::string& reason);
  void check(redis::SteadyTime deadline, Continue then);
  void checked(const std::optional<Error>& error);
  void ask(redis::Command command, redis::SteadyTime deadline,
           void (Library::*on_reply)(const redis::Reply&, redis::SteadyTime));
  void ask_version(redis::SteadyTime deadline);
  void on_version(const redis::Reply& reply, redis::SteadyTime deadline);
  void load_functions(redis::SteadyTime deadline);
  void on_functions(const redis::Reply& reply, redis::SteadyTime deadline);
  void load_script(redis::SteadyTime deadline);
  void on_script(const redis::Reply& reply, redis::SteadyTime deadline);

  redis::Io& io_;
  std::shared_ptr<redis::Topology> topology_;
  std::string functions_;
  std::string script_;
  std::string version_;

  // 0: not checked; else the topology's generation for which it holds.
  std::atomic<std::uint64_t> checked_{0};
  std::atomic<bool> by_functions_{true};
  std::string sha_;  // of the script; written once, before checked_ is set
  // On the Io's thread only:
  std::vector<Waiter> waiting_;         // who waits for the check under way
  std::uint64_t asked_generation_ = 0;  // the connection that answered its first question
};

/// The duly::Error of an error reply.
Error error_of(const redis::Reply& reply);

}  // namespace duly
