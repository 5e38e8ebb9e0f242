#include "src/core/record.h"

#include <algorithm>
#include <cmath>

namespace duly::core {
namespace {

constexpr std::uint8_t kFormat = 1;
constexpr std::uint8_t kHasPolicy = 1;
constexpr std::uint8_t kIsFixed = 2;

template <class Number>
void append_little(std::string& out, Number number, std::size_t bytes) {
  auto value = static_cast<std::uint64_t>(number);
  for (std::size_t i = 0; i < bytes; ++i, value >>= 8) out += static_cast<char>(value & 0xFF);
}

/// Takes little-endian numbers from the front of bytes that are long enough.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;)
      value = (value << 8) | static_cast<std::uint8_t>(rest_[i]);
    rest_.remove_prefix(bytes);
    return value;
  }

  Milliseconds u32_ms() { return Milliseconds{static_cast<std::int64_t>(number(4))}; }

  std::string_view text(std::size_t bytes) {
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

bool has_policy(const NewJob& job) {
  static const NewJob defaults{};
  return job.lease != defaults.lease || job.timeout != defaults.timeout ||
         job.max_attempts != defaults.max_attempts || job.priority != defaults.priority ||
         !(job.backoff == defaults.backoff);
}

void append_policy(std::string& out, const NewJob& job) {
  append_little(out, std::lround(job.backoff.jitter * 100.0), 1);
  append_little(out, job.priority, 1);
  append_little(out, job.max_attempts, 2);
  append_little(out, job.lease.count(), 4);
  append_little(out, job.timeout.count(), 4);
  append_little(out, job.backoff.base.count(), 4);
  append_little(out, job.backoff.cap.count(), 4);
  append_little(out, std::lround(job.backoff.factor * 1000.0), 4);
}

void read_policy(RecordReader& reader, Record& record) {
  record.backoff.jitter = static_cast<double>(reader.number(1)) / 100.0;
  record.priority =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(reader.number(1), Limits::priority));
  record.max_attempts = static_cast<std::uint32_t>(reader.number(2));
  record.lease = reader.u32_ms();
  record.timeout = reader.u32_ms();
  record.backoff.base = reader.u32_ms();
  record.backoff.cap = reader.u32_ms();
  record.backoff.factor = static_cast<double>(reader.number(4)) / 1000.0;
}

void set_default_policy(Record& record) {
  static const NewJob defaults{};
  record.lease = defaults.lease;
  record.timeout = defaults.timeout;
  record.max_attempts = defaults.max_attempts;
  record.backoff = defaults.backoff;
}

}  // namespace

std::string pack_record(const NewJob& job) {
  const bool with_policy = has_policy(job);
  const bool is_fixed = job.backoff.kind == Backoff::Kind::fixed;
  std::string out;
  out.reserve(kHeaderBytes - kStampBytes + kPolicyBytes + job.type.size() + job.payload.size());
  append_little(out, kFormat, 1);
  append_little(out, (with_policy ? kHasPolicy : 0) | (is_fixed ? kIsFixed : 0), 1);
  append_little(out, job.type.size(), 1);
  if (with_policy) append_policy(out, job);
  out += job.type;
  out += job.payload;
  return out;
}

// What is readable here is exactly what record.is_readable in src/lua/record.lua takes: a job that
// Redis hands over must not be one that its worker cannot read.
bool unpack_record(std::string_view bytes, Record& record) {
  if (bytes.size() < kHeaderBytes) return false;
  RecordReader reader(bytes);
  Record read;
  read.put_at = SystemTime{Milliseconds{static_cast<std::int64_t>(reader.number(kStampBytes))}};
  const std::uint64_t format = reader.number(1);
  const std::uint64_t flags = reader.number(1);
  const std::size_t type_bytes = reader.number(1);
  const bool with_policy = (flags & kHasPolicy) != 0;
  if (format != kFormat) return false;
  if (reader.left() < type_bytes + (with_policy ? kPolicyBytes : 0)) return false;

  if (with_policy) {
    read_policy(reader, read);
  } else {
    set_default_policy(read);
  }
  if ((flags & kIsFixed) != 0) read.backoff.kind = Backoff::Kind::fixed;
  read.type = reader.text(type_bytes);
  read.payload = reader.text(reader.left());
  record = read;
  return true;
}

}  // namespace duly::core
