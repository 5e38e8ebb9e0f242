#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "src/embedded/fd.h"

namespace duly::embedded {

/// The data folder of one private Redis, and where things lie in it.
///
/// The socket always lies in the folder. A socket address holds 107 bytes, so a folder with a
/// longer name is reached through a symbolic link in a private folder of this user. Each process
/// makes its own link: they need not agree on XDG_RUNTIME_DIR to meet at the same socket.
class Folder {
 public:
  /// Makes the folder, readable by this user only, unless it is there.
  ///
  /// Errors  invalid_argument: it cannot be made, or its name is long and no link to it can be
  /// made.
  explicit Folder(const std::filesystem::path& data);

  [[nodiscard]] const std::filesystem::path& path() const {
    return path_;
  }  ///< Absolute, links resolved.
  [[nodiscard]] const std::string& socket() const { return socket_; }  ///< At most 100 bytes.
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] std::filesystem::path log_file() const { return path_ / "redis.log"; }

  /// The socket as the server, which works inside the folder, should name it.
  [[nodiscard]] std::string socket_for_server() const;

  /// Makes the link of a long name again if something has cleaned it away; false if that is not
  /// possible now.
  bool keep_reachable() const;

  /// The right to run a Redis here, or nothing while anybody holds a copy of it. It ends with the
  /// last copy of the descriptor, in this process or one that inherited it.
  ///
  /// Errors  invalid_argument: the lock file cannot be opened; unavailable: the file system has no
  ///         locks.
  [[nodiscard]] std::optional<Fd> try_lock() const;

 private:
  std::filesystem::path path_;
  std::filesystem::path link_;  ///< Empty for a short name.
  std::string socket_;
  std::string url_;
};

}  // namespace duly::embedded
