#include "src/redis/reaction.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace duly::redis {
namespace {

using Code = ErrorCode;

constexpr std::array kTable{
    TroubleRow{Trouble::loading, "LOADING", Reaction::wait, Code::unavailable},
    TroubleRow{Trouble::busy, "BUSY", Reaction::wait, Code::unavailable},
    TroubleRow{Trouble::try_again, "TRYAGAIN", Reaction::wait, Code::unavailable},
    TroubleRow{Trouble::cluster_down, "CLUSTERDOWN", Reaction::wait, Code::unavailable},
    // The address may lead elsewhere by now.
    TroubleRow{Trouble::master_down, "MASTERDOWN", Reaction::reconnect, Code::unavailable},
    TroubleRow{Trouble::read_only, "READONLY", Reaction::reconnect, Code::unavailable},
    TroubleRow{Trouble::max_clients, "ERR max number of clients", Reaction::reconnect,
               Code::unavailable},
    TroubleRow{Trouble::no_function, "ERR Function not found", Reaction::load, Code::unavailable},
    TroubleRow{Trouble::no_script, "NOSCRIPT", Reaction::load, Code::unavailable},
    TroubleRow{Trouble::unknown_command, "ERR unknown command", Reaction::end, Code::unavailable},
    TroubleRow{Trouble::no_permission, "NOPERM", Reaction::end, Code::unavailable},
    TroubleRow{Trouble::not_logged_in, "NOAUTH", Reaction::end, Code::unavailable},
    TroubleRow{Trouble::wrong_password, "WRONGPASS", Reaction::end, Code::unavailable},
    TroubleRow{Trouble::snapshot_fails, "MISCONF", Reaction::end, Code::unavailable},
    TroubleRow{Trouble::no_replicas, "NOREPLICAS", Reaction::end, Code::unavailable},
    TroubleRow{Trouble::out_of_memory, "OOM", Reaction::end, Code::out_of_memory},
    // The server takes no value as large as this one.
    TroubleRow{Trouble::protocol_error, "ERR Protocol error", Reaction::end,
               Code::invalid_argument},
    TroubleRow{Trouble::invalid, "DULY_INVALID", Reaction::end, Code::invalid_argument},
    TroubleRow{Trouble::other_reply, "any other error", Reaction::end, Code::internal},

    TroubleRow{Trouble::no_such_name, "name not found", Reaction::reconnect, Code::unavailable},
    TroubleRow{Trouble::refused, "connection refused", Reaction::reconnect, Code::unavailable},
    TroubleRow{Trouble::unreachable, "not reached within 5 s", Reaction::reconnect,
               Code::unavailable},
    TroubleRow{Trouble::closed, "closed", Reaction::reconnect, Code::outcome_unknown},
    TroubleRow{Trouble::silent, "silent, half-open", Reaction::reconnect, Code::outcome_unknown},
    TroubleRow{Trouble::slow, "slow reply", Reaction::wait, Code::outcome_unknown},
    TroubleRow{Trouble::not_redis, "no reply of Redis", Reaction::end, Code::outcome_unknown},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<std::size_t>(kTable[i].trouble) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

// What Redis says instead of the plain error where a command inside a script meets it.
constexpr std::array<std::pair<std::string_view, Trouble>, 3> kInScripts{{
    {"ERR The user executing the script can't ", Trouble::no_permission},
    {"ERR ACL failure in script", Trouble::no_permission},
    {"ERR Unknown Redis command called from script", Trouble::unknown_command},
}};

// Whether `text` begins with `words`, and these are whole words.
bool begins_with(std::string_view text, std::string_view words) {
  if (!text.starts_with(words)) return false;
  return text.size() == words.size() ||
         std::string_view(" :,'`").find(text[words.size()]) != std::string_view::npos;
}

Trouble trouble_of_text(std::string_view text) {
  const auto* const row = std::find_if(kTable.begin(), kTable.end(), [&](const TroubleRow& one) {
    return begins_with(text, one.name);
  });
  if (row != kTable.end() && row->trouble < Trouble::other_reply) return row->trouble;
  const auto* const wrapped = std::find_if(kInScripts.begin(), kInScripts.end(),
                                           [&](auto& one) { return text.starts_with(one.first); });
  return wrapped == kInScripts.end() ? Trouble::other_reply : wrapped->second;
}

}  // namespace

std::span<const TroubleRow> trouble_table() { return kTable; }

const TroubleRow& row_of(Trouble trouble) { return kTable.at(static_cast<std::size_t>(trouble)); }

Trouble trouble_of(const Reply& error) {
  const std::string_view text = error.text;
  const Trouble plain = trouble_of_text(text);
  // Redis 6: "ERR Error running script (call to f_...): @user_script:5: -READONLY You can't ...".
  constexpr std::string_view kRunning = "ERR Error running script";
  if (plain != Trouble::other_reply || !text.starts_with(kRunning)) return plain;
  constexpr std::string_view kPlace = "@user_script:";
  const std::size_t place = text.find(kPlace);
  if (place == std::string_view::npos) return plain;
  std::string_view inner = text.substr(place + kPlace.size());
  // Behind it the line number, sometimes the place once more, then the error with or without dash.
  const std::size_t begin = inner.find_first_of("-ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  if (begin == std::string_view::npos) return plain;
  inner.remove_prefix(begin);
  if (inner.starts_with('-')) return trouble_of_text(inner.substr(1));
  const Trouble bare = trouble_of_text(inner);
  return bare != Trouble::other_reply ? bare : trouble_of_text("ERR " + std::string(inner));
}

std::string_view to_string(Reaction reaction) {
  switch (reaction) {
    case Reaction::wait:
      return "wait";
    case Reaction::reconnect:
      return "reconnect";
    case Reaction::load:
      return "load";
    case Reaction::end:
      break;
  }
  return "end";
}

}  // namespace duly::redis
