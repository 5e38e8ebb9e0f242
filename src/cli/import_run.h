#pragma once

#include "duly/import.h"
#include "src/cli/context.h"

namespace duly::cli {

struct ImportRun {
  QueueName queue{};
  ImportRequest request{};
  bool follows = false;  ///< Goes on until SIGINT or SIGTERM.
};

/// Moves a home-made queue into one of duly's, piece by piece, and prints the counts. Answers the
/// exit status: 0, or 7 if members were left where they are; of a look or a stop always 0.
int run_import(const Context& context, ImportRun run);

}  // namespace duly::cli
