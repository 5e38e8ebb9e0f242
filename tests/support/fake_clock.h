#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace duly::testing {

/// A wall clock for programs, by libfaketime; it may be set while they run. Their monotonic clock
/// is the real one.
class FakeClock {
 public:
  /// As libfaketime reads it: "+1h", "-10", "+0", "@2200-01-01 00:00:00".
  explicit FakeClock(const std::string& time);
  ~FakeClock();
  FakeClock(const FakeClock&) = delete;
  FakeClock& operator=(const FakeClock&) = delete;

  void set(const std::string& time) const;
  /// Of a program that is to have this clock.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace duly::testing
