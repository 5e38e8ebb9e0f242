#include "src/core/import.h"

#include <string_view>

#include "src/core/check.h"
#include "src/core/in_quotes.h"

namespace duly::core {
namespace {

std::optional<Error> check_source_key(std::string_view name, const std::string& key) {
  const std::string expected = ", expected the key of a home-made queue";
  if (key.empty()) {
    return Error(ErrorCode::invalid_argument, std::string(name) + ": empty" + expected);
  }
  if (key.starts_with("duly:")) {
    return Error(ErrorCode::invalid_argument,
                 std::string(name) + ": " + in_quotes(key) + " is duly's own" + expected);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> check_import(const ImportRequest& request) {
  const ImportSource& source = request.source;
  if (auto error = check_source_key("sorted set", source.set)) return error;
  if (source.contents) {
    if (auto error = check_source_key("hash", *source.contents)) return error;
    if (*source.contents == source.set) {
      return Error(ErrorCode::invalid_argument,
                   "hash: " + in_quotes(source.set) + " is the sorted set, expected another key");
    }
  }
  NewJob job = request.job;
  job.payload.clear();
  return check_job(job, 0);
}

}  // namespace duly::core
