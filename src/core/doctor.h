#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace duly::core {

/// What was looked at, by name; or why it could not be.
struct Table {
  std::map<std::string, std::string, std::less<>> values{};
  std::string refused{};  ///< The server's words; empty if it answered.

  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name) const;
};

/// A right of docs/protocol.md, "Rights", and whether this user has it.
struct Right {
  enum class Finding { granted, no_command, no_key, unknown };
  std::string command;
  Finding finding = Finding::unknown;
};

/// What duly found out about a server; a reader of src/client fills it.
struct ServerFacts {
  Table info{};                                     ///< INFO, all sections.
  Table config{};                                   ///< CONFIG GET of what is looked at here.
  std::optional<std::chrono::nanoseconds> ahead{};  ///< This machine's clock before Redis's.
  std::vector<std::chrono::nanoseconds> pings{};
  std::string library{};  ///< The version in Redis; empty if none is loaded.
  std::string our_library{};
  bool by_functions = true;
  std::string library_refused{};
  std::vector<Right> rights{};
  std::uint64_t waiting = 0;                     ///< Jobs that wait in the queues looked at.
  std::optional<std::uint64_t> waiting_bytes{};  ///< Their memory, if the server told it.
};

enum class Verdict { ok, warning, threat, unknown };
std::string_view to_string(Verdict verdict);

/// One line of the doctor's report.
struct Check {
  std::string name;
  Verdict verdict = Verdict::ok;
  std::string found;
  std::string reason;
  std::string advice{};  ///< What to do; empty if nothing.
};

/// Judges a server: `threat` is what endangers the promises of the README, `unknown` what the
/// server does not let us see. Always the same checks, in the same order.
std::vector<Check> diagnose(const ServerFacts& facts);

/// The judgement of maxmemory-policy alone, for a worker that starts.
Check judge_policy(std::optional<std::string> policy);

}  // namespace duly::core
