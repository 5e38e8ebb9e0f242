#include "src/embedded/embedded.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "duly/error.h"
#include "src/embedded/folder.h"
#include "src/embedded/supervisor.h"

namespace duly {
namespace {

// The XDG rules: only an absolute path counts.
std::filesystem::path absolute_from(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value == '/' ? value : "";
}

std::filesystem::path home() {
  if (auto named = absolute_from("HOME"); !named.empty()) return named;
  const passwd* user = ::getpwuid(::geteuid());
  if (user != nullptr && user->pw_dir != nullptr && *user->pw_dir == '/') return user->pw_dir;
  throw Error(
      ErrorCode::invalid_argument,
      "data folder: this user has no home, expected HOME, XDG_STATE_HOME or a folder by name");
}

}  // namespace

struct EmbeddedRedis::Impl {
  Impl(const std::filesystem::path& data, embedded::Log log)
      : folder(data), supervisor(folder, std::move(log)) {}

  embedded::Folder folder;
  embedded::Supervisor supervisor;
};

EmbeddedRedis::EmbeddedRedis(const std::filesystem::path& data,
                             std::function<void(LogLevel, const std::string&)> log)
    : impl_(std::make_unique<Impl>(data, std::move(log))) {}

EmbeddedRedis::~EmbeddedRedis() = default;

const std::string& EmbeddedRedis::url() const { return impl_->folder.url(); }

bool EmbeddedRedis::is_owner() const { return impl_->supervisor.is_owner(); }

std::filesystem::path EmbeddedRedis::default_folder() {
  if (auto state = absolute_from("XDG_STATE_HOME"); !state.empty()) return state / "duly";
  return home() / ".local" / "state" / "duly";
}

}  // namespace duly
