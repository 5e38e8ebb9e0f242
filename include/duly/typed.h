#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

#include "duly/client.h"
#include "duly/worker.h"

namespace duly {

/// How a struct becomes a payload and back. Specialise it for your own types, or include
/// `duly/nlohmann.h` to have it for all that nlohmann's library can convert:
///
///   template <> struct duly::Codec<Order> {
///     static std::string encode(const Order&);
///     static Order decode(std::string_view);  // throws what it likes: the attempt gives up
///   };
template <class T>
struct Codec;

template <class T>
concept Encodable = requires(const T& value, std::string_view bytes) {
  { Codec<T>::encode(value) } -> std::convertible_to<std::string>;
  { Codec<T>::decode(bytes) } -> std::convertible_to<T>;
};

/// A job whose payload is `value`; the other fields are taken from `job`.
template <Encodable T>
NewJob typed_job(std::string type, const T& value, NewJob job = {}) {
  job.type = std::move(type);
  job.payload = Codec<T>::encode(value);
  return job;
}

/// A handler that gets the decoded payload. A payload that does not decode makes the job dead: it
/// would not decode the next time either.
template <Encodable T, std::invocable<const T&, Attempt&> Function>
Handler typed_handler(Function function) {
  return [function = std::move(function)](Attempt& attempt) {
    const T value = [&] {
      try {
        return T(Codec<T>::decode(attempt.job().payload));
      } catch (const std::exception& error) {
        throw GiveUp{std::string("payload does not decode: ") + error.what()};
      }
    }();
    function(value, attempt);
  };
}

}  // namespace duly
