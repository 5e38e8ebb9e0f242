#pragma once

#include <filesystem>
#include <string>

namespace duly::testing {

/// A certificate and its key, as PEM files.
struct Certificate {
  std::filesystem::path file{};
  std::filesystem::path key{};
};

/// Throw-away authorities and what they sign, made by openssl in a folder that goes with this
/// object.
class Certificates {
 public:
  Certificates();
  ~Certificates();
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] Certificate authority(const std::string& name) const;
  /// For a server, `alt_names` as in "DNS:localhost,IP:127.0.0.1".
  [[nodiscard]] Certificate signed_by(const Certificate& authority, const std::string& name,
                                      const std::string& alt_names) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace duly::testing
