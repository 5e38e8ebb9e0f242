#pragma once

#include <functional>
#include <utility>
#include <variant>

#include "duly/error.h"

namespace duly {

/// A value or the error that stopped it: for code that answers by callback and cannot throw.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

  /// The value, or throws the error.
  T take() && {
    if (!ok()) throw error();
    return std::get<0>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

/// Stands for "nothing to say" where a Result needs a value.
struct Nothing {};

template <class T>
using Done = std::function<void(Result<T>)>;

}  // namespace duly
