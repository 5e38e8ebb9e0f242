#pragma once

#include <optional>
#include <string>

namespace duly::embedded {

/// What a server says to PING: `silent` also when nobody listens.
enum class Answer { ready, loading, silent };

/// Asks once, for at most 1 s.
Answer ping(const std::string& socket);

/// "7.0.15" as INFO calls it, or nothing if the server does not say within 1 s.
std::optional<std::string> server_version(const std::string& socket);

}  // namespace duly::embedded
