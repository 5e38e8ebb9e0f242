#pragma once

#include <string>
#include <string_view>

namespace duly::cli {

enum class Stream { in, out, err };

/// A program may be started without some of the three: then another file would take their numbers
/// and get what is meant for them. Makes them lead nowhere instead.
void open_missing_streams();

bool is_terminal(Stream stream);

/// On a terminal that knows colours, and without NO_COLOR (no-color.org).
bool has_colours(Stream stream);

enum class Colour { plain, bold, dim, red, green, yellow, blue };

/// The text in a colour, if standard output shows colours; else as it is.
std::string in_colour(Colour colour, std::string_view text);

}  // namespace duly::cli
