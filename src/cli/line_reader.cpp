#include "src/cli/line_reader.h"

namespace duly::cli {

std::optional<Line> LineReader::next() {
  Line line{.number = number_ + 1};
  for (bool is_ended = false; !is_ended;) {
    if (at_ == block_.size() && !fill()) {
      if (line.text.empty() && !line.is_too_long) return std::nullopt;
      break;
    }
    const std::size_t end = block_.find('\n', at_);
    is_ended = end != std::string::npos;
    const std::size_t size = (is_ended ? end : block_.size()) - at_;
    if (line.text.size() + size > most_) line.is_too_long = true;
    if (line.is_too_long) {
      line.text.clear();
    } else {
      line.text.append(block_, at_, size);
    }
    at_ += size + (is_ended ? 1 : 0);
    bytes_done_ += size + (is_ended ? 1 : 0);
  }
  number_ = line.number;
  return line;
}

bool LineReader::would_wait() const {
  return block_.find('\n', at_) == std::string::npos && !input_.is_ready();
}

bool LineReader::fill() {
  constexpr std::size_t kBlock = 64UL * 1024;
  block_.resize(kBlock);
  block_.resize(input_.read(block_.data(), kBlock));
  at_ = 0;
  return !block_.empty();
}

}  // namespace duly::cli
