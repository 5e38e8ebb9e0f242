#pragma once

// Optional: the only public header that needs another library than the standard one.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "duly/typed.h"

namespace duly {

/// Any struct with nlohmann's to_json and from_json (say, by NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE) is
/// stored as JSON.
template <class T>
requires requires(const T& value, nlohmann::json json) {
  nlohmann::json(value);
  json.get<T>();
}
struct Codec<T> {
  static std::string encode(const T& value) { return nlohmann::json(value).dump(); }
  static T decode(std::string_view bytes) { return nlohmann::json::parse(bytes).template get<T>(); }
};

}  // namespace duly
