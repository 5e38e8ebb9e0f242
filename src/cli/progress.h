#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace duly::cli {

/// How far a stream has come, on stderr: in place on a terminal; elsewhere a line every two
/// seconds, so none for what is quick.
class Progress {
 public:
  enum class Show { nothing, all };

  /// `bytes` is the size of the whole, if known.
  Progress(Show show, std::optional<std::uint64_t> bytes);
  ~Progress();  ///< Clears the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t jobs, std::uint64_t bytes_done);

  [[nodiscard]] std::chrono::duration<double> elapsed() const;

  /// Removes the line, so that another text can stand there; the next update brings it back.
  void clear();

 private:
  [[nodiscard]] std::string text(std::uint64_t jobs, std::uint64_t bytes_done) const;

  Show show_;
  bool is_in_place_;
  std::optional<std::uint64_t> bytes_;
  std::chrono::steady_clock::time_point begun_at_;
  std::chrono::steady_clock::time_point next_at_;
  bool is_shown_ = false;
};

/// "1.5 MiB".
std::string size_text(std::uint64_t bytes);

/// Per second, whole; of less than a millisecond as if it had been one.
std::uint64_t rate(std::uint64_t count, std::chrono::duration<double> time);

}  // namespace duly::cli
