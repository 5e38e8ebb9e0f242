#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "duly/connection.h"
#include "src/redis/topology.h"
#include "src/redis/url.h"

namespace duly::redis {

struct LinkOptions {
  Url url{};
  std::filesystem::path ca_file{};
  std::filesystem::path certificate_file{};
  std::filesystem::path key_file{};
  std::string client_name = "duly";
  std::size_t requests_in_flight = 10'000;
  std::size_t bytes_in_flight = 256UL * 1024 * 1024;
  std::function<void(LogLevel, const std::string&)> log{};
};

/// One server: one shared connection for commands, one for subscriptions, both opened when first
/// needed and again, with jittered backoff, whenever they break.
///
/// Errors  invalid_argument: a TLS file that cannot be read.
std::shared_ptr<Topology> make_standalone(Io& io, LinkOptions options);

}  // namespace duly::redis
