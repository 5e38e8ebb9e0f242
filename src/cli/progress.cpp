#include "src/cli/progress.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

#include "src/cli/logging.h"
#include "src/cli/terminal.h"

namespace duly::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kInPlace{100};
constexpr std::chrono::seconds kLines{2};

}  // namespace

Progress::Progress(Show show, std::optional<std::uint64_t> bytes)
    : show_(show),
      is_in_place_(is_terminal(Stream::err) && log_form() == LogForm::text),
      bytes_(bytes),
      begun_at_(steady_clock::now()),
      next_at_(is_in_place_ ? begun_at_ + kInPlace : begun_at_ + kLines) {}

Progress::~Progress() { clear(); }

void Progress::update(std::uint64_t jobs, std::uint64_t bytes_done) {
  if (show_ == Show::nothing) return;
  const auto now = steady_clock::now();
  if (now < next_at_) return;
  if (is_in_place_) {
    next_at_ = now + kInPlace;
    std::cerr << "\r\x1b[K" << text(jobs, bytes_done) << std::flush;
    is_shown_ = true;
  } else {
    next_at_ = now + kLines;
    notice(text(jobs, bytes_done));
  }
}

void Progress::clear() {
  if (!is_shown_) return;
  std::cerr << "\r\x1b[K" << std::flush;
  is_shown_ = false;
}

std::chrono::duration<double> Progress::elapsed() const { return steady_clock::now() - begun_at_; }

std::string Progress::text(std::uint64_t jobs, std::uint64_t bytes_done) const {
  std::string line = std::to_string(jobs) + " jobs, " + std::to_string(rate(jobs, elapsed())) +
                     "/s, " + size_text(bytes_done);
  if (bytes_ && *bytes_ > 0) {
    line += ", " + std::to_string(std::min<std::uint64_t>(100, bytes_done * 100 / *bytes_)) + " %";
  }
  return line;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", size, kUnits.at(unit));
  return text.data();
}

std::uint64_t rate(std::uint64_t count, std::chrono::duration<double> time) {
  return static_cast<std::uint64_t>(static_cast<double>(count) / std::max(time.count(), 0.001));
}

}  // namespace duly::cli
