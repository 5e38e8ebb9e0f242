#pragma once

#include <sys/types.h>
#include <string>
#include <utility>
#include <vector>

namespace duly::cli {

/// Starts `sh -c command` in a process group of its own, whose number is the answer, with all
/// signals as usual. Safe while other threads run.
///
/// Shape   `input` and `error` become its standard input and error; standard output is ours.
/// Errors  internal: no process left.
pid_t spawn_shell(const std::string& command,
                  const std::vector<std::pair<std::string, std::string>>& environment, int input,
                  int error);

}  // namespace duly::cli
