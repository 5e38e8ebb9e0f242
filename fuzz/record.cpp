#include "src/core/record.h"

#include "fuzz/fuzz.h"

// Any bytes are a record or none; what is one is packed again to one that says the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace duly;
  const std::string_view stored = fuzz::as_text(bytes, size);
  core::Record record;
  if (!core::unpack_record(stored, record)) return 0;
  fuzz::expect(record.type.size() + record.payload.size() + core::kHeaderBytes <= size,
               "type and payload lie inside the record");
  const NewJob job{.type = std::string(record.type),
                   .payload = std::string(record.payload),
                   .lease = record.lease,
                   .timeout = record.timeout,
                   .max_attempts = record.max_attempts,
                   .backoff = record.backoff};
  const std::string packed =
      std::string(stored.substr(0, core::kStampBytes)) + core::pack_record(job);
  core::Record again;
  fuzz::expect(core::unpack_record(packed, again), "what was packed is readable");
  fuzz::expect(again.put_at == record.put_at && again.type == record.type &&
                   again.payload == record.payload && again.lease == record.lease &&
                   again.timeout == record.timeout && again.max_attempts == record.max_attempts &&
                   again.backoff == record.backoff,
               "the same read back");
  return 0;
}
