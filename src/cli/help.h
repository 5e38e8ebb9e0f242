#pragma once

#include <CLI/App.hpp>
#include <string>

namespace duly::cli {

/// The form of all help, and what the top level says beside its commands.
void set_up_help(CLI::App& app);

/// Adds examples, one a line, to a command's help.
void add_examples(CLI::App& command, const std::string& lines);

/// What was wrong with a command line; names the nearest command if it was none.
std::string usage_message(const CLI::App& app, const CLI::ParseError& problem);

/// Where to read more: the help of the chosen command, or of all.
std::string usage_hint(const CLI::App& app);

}  // namespace duly::cli
