#pragma once

#include <string>
#include <vector>

#include "src/engine/engine.h"

namespace duly::testing {

/// All that an answer says, on one line, so that two can be compared and shown.
std::string as_text(const PutResult& result);
std::string as_text(const ActiveJob& job);
std::string as_text(const JobInfo& job);
std::string as_text(const std::optional<JobInfo>& job);
std::string as_text(const ClaimReply& reply);
std::string as_text(const ExtendResult& result);
std::string as_text(const QueueStats& stats);
inline std::string as_text(LeaseOutcome outcome) { return std::string(to_string(outcome)); }
inline std::string as_text(ChangeOutcome outcome) { return std::string(to_string(outcome)); }
inline std::string as_text(std::uint64_t count) { return std::to_string(count); }
inline std::string as_text(const DeadSweep& sweep) { return std::to_string(sweep.count); }

template <class Item>
std::string as_text(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "[" : "; ") + as_text(item);
  return text.empty() ? "[]" : text + "]";
}

}  // namespace duly::testing
