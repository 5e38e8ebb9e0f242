#include "duly/job.h"
#include "fuzz/fuzz.h"
#include "src/core/time_text.h"

// A time is refused, or in its limits, and its own text reads back as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace duly;
  SystemTime time{};
  if (!fuzz::takes([&] { time = core::parse_time(fuzz::as_text(bytes, size)); })) return 0;
  const std::string text = core::format_time(time);
  fuzz::expect(time >= SystemTime{} && time <= Limits::last_due_at, "in the limits", text);
  fuzz::expect(core::parse_time(text) == time, "the same read back", text);
  return 0;
}
