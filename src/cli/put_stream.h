#pragma once

#include <string>

#include "duly/job.h"
#include "src/cli/context.h"

namespace duly::cli {

struct PutStream {
  QueueName queue;
  std::string path;  ///< - is standard input.
  NewJob defaults;   ///< For what a line does not say.
  /// Lines of jobs that had ended when they were exported: dead or done.
  enum class Ended { leave_out, put_anew } ended = Ended::leave_out;
};

/// Puts one job a line, in batches of which a few are under way; holds these and no more. A bad
/// line is reported by its number and stops no other; Redis away or full stops the stream.
///
/// Shape   the exit status: that of what stopped the stream; else 2 if a line was refused, 7 if a
/// job was
///         there before, 0.
int put_stream(const Context& context, const PutStream& stream);

}  // namespace duly::cli
