#include "src/redis/url.h"

#include "fuzz/fuzz.h"

// A URL is refused, or read to something whose secret-free address leads to the same place.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace duly;
  redis::Url url;
  if (!fuzz::takes([&] { url = redis::parse_url(fuzz::as_text(bytes, size)); })) return 0;
  redis::Url again;
  const std::string address = url.address();
  fuzz::expect(fuzz::takes([&] { again = redis::parse_url(address); }), "an address is a URL",
               address);
  fuzz::expect(again.host == url.host && again.port == url.port &&
                   again.socket_path == url.socket_path && again.database == url.database &&
                   again.is_tls == url.is_tls,
               "an address leads to the same place", address);
  fuzz::expect(again.user.empty() && !again.password, "an address without secrets", address);
  return 0;
}
