#include "src/core/duration.h"

#include "duly/job.h"
#include "fuzz/fuzz.h"

// A duration is refused, or in its limits, and its own text reads back as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace duly;
  Milliseconds duration{};
  if (!fuzz::takes([&] { duration = core::parse_duration(fuzz::as_text(bytes, size)); })) return 0;
  const std::string text = core::format_duration(duration);
  fuzz::expect(duration >= Milliseconds{0} && duration <= Limits::delay, "in the limits", text);
  fuzz::expect(core::parse_duration(text) == duration, "the same read back", text);
  return 0;
}
