#include "src/embedded/folder.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "duly/error.h"

namespace duly::embedded {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSocketName = "redis.sock";
constexpr std::size_t kSocketMost = 100;  // sun_path takes 107 bytes; the rest is for comfort.

Error refused(const fs::path& path, int code) {
  return {ErrorCode::invalid_argument, "data folder: " + path.string() + ": " +
                                           std::strerror(code) +
                                           ", expected a folder that can be written"};
}

fs::path make_folder(const fs::path& data) {
  std::error_code code;
  if (data.has_parent_path()) fs::create_directories(data.parent_path(), code);
  if (code) throw refused(data.parent_path(), code.value());
  if (::mkdir(data.c_str(), 0700) != 0 && errno != EEXIST) throw refused(data, errno);
  if (!fs::is_directory(data, code)) throw refused(data, code ? code.value() : ENOTDIR);
  fs::path real = fs::canonical(data, code);
  if (code) throw refused(data, code.value());
  return real;
}

// FNV-1a, 64 bits: short, and the same in every build.
std::string name_of(std::string_view path) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  for (int shift = 60; shift >= 0; shift -= 4) name += kDigits[(hash >> shift) & 15];
  return name;
}

// Others may write into /tmp: a folder there counts only if it is a real one, ours, and closed to
// them.
bool is_private_folder(const fs::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == ::geteuid() && (found.st_mode & 077) == 0;
}

fs::path link_folder() {
  const std::size_t room =
      kSocketMost - std::string_view("/0123456789abcdef/").size() - kSocketName.size();
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime == '/') {
    fs::path folder = fs::path(runtime) / "duly";
    if (folder.string().size() <= room && is_private_folder(folder)) return folder;
  }
  fs::path folder = "/tmp/duly-" + std::to_string(::geteuid());
  if (is_private_folder(folder)) return folder;
  throw Error(ErrorCode::invalid_argument,
              folder.string() +
                  ": no private folder of this user, so a data folder with a long name has "
                  "no place for its link; expected a shorter data folder");
}

std::string percent_encoded(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view("/-._~").find(c) != std::string_view::npos;
    if (is_plain) {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

}  // namespace

Folder::Folder(const fs::path& data)
    : path_(make_folder(data)), socket_((path_ / kSocketName).string()) {
  if (socket_.size() > kSocketMost) {
    link_ = link_folder() / name_of(path_.string());
    socket_ = (link_ / kSocketName).string();
    if (!keep_reachable()) throw refused(link_, errno);
  }
  url_ = "unix://" + percent_encoded(socket_);
}

std::string Folder::socket_for_server() const {
  return link_.empty() ? socket_ : std::string(kSocketName);
}

bool Folder::keep_reachable() const {
  if (link_.empty()) return true;
  std::error_code code;
  if (fs::read_symlink(link_, code) == path_) return true;
  if (!is_private_folder(link_.parent_path())) return false;
  fs::remove(link_, code);
  // Another process may have been faster: its link is as good.
  return ::symlink(path_.c_str(), link_.c_str()) == 0 || fs::read_symlink(link_, code) == path_;
}

std::optional<Fd> Folder::try_lock() const {
  const fs::path file = path_ / "lock";
  while (true) {
    Fd lock = Fd::open(file.c_str(), O_RDWR | O_CREAT, 0600);
    if (!lock.is_open()) throw refused(file, errno);
    while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return std::nullopt;
      if (errno != EINTR) {
        throw Error(ErrorCode::unavailable, file.string() + ": no lock: " + std::strerror(errno));
      }
    }
    // A lock on a file that somebody has removed meanwhile guards nothing.
    struct stat held {};
    struct stat named {};
    if (::fstat(lock.get(), &held) == 0 && ::stat(file.c_str(), &named) == 0 &&
        held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
      return lock;
    }
  }
}

}  // namespace duly::embedded
