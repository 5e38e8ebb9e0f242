#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace duly {

using Milliseconds = std::chrono::milliseconds;

/// A point in time, whole milliseconds since 1970 (UTC), up to the year 9999.
using SystemTime = std::chrono::sys_time<Milliseconds>;

/// A string that is not just any string: a JobId does not compile where a LeaseToken is wanted.
template <class Tag>
class Name {
 public:
  Name() = default;
  explicit Name(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  auto operator<=>(const Name&) const = default;

 private:
  std::string text_;
};

/// Names one job in its queue: 1 .. 128 bytes, printable ASCII without blanks. A fresh one has 20
/// letters and digits that sort by creation time.
using JobId = Name<struct JobIdTag>;

/// Proves the right of one claim. Made by the claimer; 1 .. 64 characters of A-Z a-z 0-9 . _ -
using LeaseToken = Name<struct LeaseTokenTag>;

/// Names a queue: 1 .. 128 characters of A-Z a-z 0-9 . _ - :
/// Converts from text, so that `client.put("mail", ...)` reads well; the rule is checked on use.
class QueueName {
 public:
  QueueName() = default;
  QueueName(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  QueueName(std::string_view text) : text_(text) {}        // NOLINT(google-explicit-constructor)
  QueueName(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  auto operator<=>(const QueueName&) const = default;

 private:
  std::string text_;
};

/// `scheduled` and `ready` are told apart by Redis's clock alone.
enum class JobState {
  scheduled,  ///< Not due; also between attempts.
  ready,      ///< Due.
  active,     ///< Claimed under a lease.
  done,       ///< Acked and kept; only where a queue keeps done jobs.
  dead,       ///< Given up; see `DeadReason`.
};

/// Why a job is dead.
enum class DeadReason {
  failed,       ///< The last of its attempts failed.
  given_up,     ///< The handler said that no attempt will do.
  quarantined,  ///< Its leases were lost too often: it seems to crash its workers.
  unreadable,   ///< Its record is damaged or of an unknown format.
};

std::string_view to_string(JobState state);
std::string_view to_string(DeadReason reason);

}  // namespace duly

template <class Tag>
struct std::hash<duly::Name<Tag>> {
  std::size_t operator()(const duly::Name<Tag>& name) const noexcept {
    return std::hash<std::string>{}(name.text());
  }
};

template <>
struct std::hash<duly::QueueName> {
  std::size_t operator()(const duly::QueueName& name) const noexcept {
    return std::hash<std::string>{}(name.text());
  }
};
