#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "duly/job.h"

namespace duly::core {

/// What the `jobs` hash keeps of one job. Little endian, without padding:
///
///   0  u48  put_at_ms      stamped by Redis; not part of what a client packs
///   6  u8   format         1
///   7  u8   flags          bit 0: a policy follows; bit 1: backoff is fixed
///   8  u8   type length
///   9  policy, if flagged  u8 jitter in hundredths, u8 priority, u16 max attempts, u32
///   lease_ms,
///                          u32 timeout_ms, u32 backoff base_ms, u32 cap_ms, u32 factor in
///                          thousandths
///   .. type, payload
///
/// Without a policy, the defaults of NewJob hold; they belong to the format.
///
/// Source  docs/protocol.md, "Records".
struct Record {
  SystemTime put_at;
  std::string_view type;
  std::string_view payload;
  Milliseconds lease{0};
  Milliseconds timeout{0};
  std::uint32_t max_attempts = 0;
  std::uint32_t priority = 0;
  Backoff backoff{};
};

inline constexpr std::size_t kStampBytes = 6;
inline constexpr std::size_t kHeaderBytes = 9;
inline constexpr std::size_t kPolicyBytes = 24;

/// The record of a job without its stamp, as duly_put takes it. The job has been checked.
std::string pack_record(const NewJob& job);

/// A stored record, with its stamp. Views point into `bytes`.
///
/// Errors  false: damaged, or of an unknown format.
[[nodiscard]] bool unpack_record(std::string_view bytes, Record& record);

}  // namespace duly::core
