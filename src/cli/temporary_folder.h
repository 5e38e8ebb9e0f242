#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "duly/error.h"

namespace duly::cli {

/// A folder for a private Redis of the moment; it goes with this object.
class TemporaryFolder {
 public:
  /// Errors  unavailable: there is no place to write.
  explicit TemporaryFolder(const std::string& purpose) {
    const std::string name = "duly-" + purpose + "-XXXXXX";
    std::string path = (std::filesystem::temp_directory_path() / name).string();
    if (::mkdtemp(path.data()) == nullptr) {
      throw Error(ErrorCode::unavailable,
                  "temporary folder: " + path + " cannot be made, expected a place to write");
    }
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace duly::cli
