#pragma once

#include <string>
#include <string_view>

namespace duly::core {

/// An offending name or text for a message: in quotes, printable, and cut after 60 bytes ("..."
/// follows). Never for payloads, tokens or URLs.
std::string in_quotes(std::string_view text);

}  // namespace duly::core
