#include "src/cli/context.h"

#include "src/cli/logging.h"
#include "src/cli/terminal.h"

namespace duly::cli {
namespace {

bool is_private(const ConnectionOptions& options) {
  const char* const redis = std::getenv("DULY_REDIS");  // NOLINT(concurrency-mt-unsafe)
  return options.redis.empty() && (redis == nullptr || *redis == '\0');
}

}  // namespace

Connection Context::connect() const {
  // With --json, stderr holds at most the error: it says what notices would say.
  return connect(is_json ? LogLevel::error : LogLevel::warning);
}

Connection Context::connect(LogLevel least) const {
  ConnectionOptions options = connection;
  if (timeout) options.timeout = *timeout;
  options.log = connection_log(is_quiet ? LogLevel::error : least);
  const bool tells = is_private(options) && !is_quiet && !is_json && is_terminal(Stream::err);
  Connection opened(std::move(options));
  if (tells) {
    notice("using a private Redis, " + opened.address() +
           "; --redis or DULY_REDIS leads elsewhere");
  }
  return opened;
}

}  // namespace duly::cli
