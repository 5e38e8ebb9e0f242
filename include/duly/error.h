#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace duly {

/// What a caller can do about a failure. docs/operations.md explains each.
enum class ErrorCode {
  invalid_argument,  ///< Fix the call; nothing happened.
  unavailable,       ///< Try again later; nothing happened.
  outcome_unknown,   ///< The link broke after sending; repeat only what is safe to repeat.
  out_of_memory,     ///< Redis is full: drain the queue or give Redis room; nothing happened.
  incompatible,  ///< The library in Redis is of another major version: upgrade; nothing happened.
  internal,      ///< A bug in duly, or a reply that duly does not understand.
};

/// The word for a code, as it appears in messages and JSON.
std::string_view to_string(ErrorCode code);

/// The exit status of the command line tool for a code: 2, 3, 4, 5, 6, 1.
int exit_status(ErrorCode code);

/// A failure: something stopped the call. `what()` names object, finding and expectation, and never
/// holds payloads or secrets.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace duly
