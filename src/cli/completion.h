#pragma once

#include <string>

#include "src/cli/syntax.h"

namespace duly::cli {

// Scripts that complete duly's command lines: commands, options, values that are given words,
// files, and, where DULY_REDIS names a server that answers in half a second, queues.

std::string bash_completion(const CommandSyntax& duly);
std::string zsh_completion(const CommandSyntax& duly);

/// duly(1) in roff.
std::string manual_page(const CommandSyntax& duly);

}  // namespace duly::cli
