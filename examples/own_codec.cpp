// A struct with a codec of its own: no JSON library. Payloads are bytes; duly never looks into
// them. Usage: own_codec [REDIS-URL]
#include <duly/duly.h>

#include <charconv>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace std::chrono_literals;

struct Refund {
  int order = 0;
  long cents = 0;
};

// `1 order cents`, as text: easy to put by hand with redis-cli, too. Give a format a version (the
// 1) when it may change: jobs put today may run in a year, by a newer program.
template <>
struct duly::Codec<Refund> {
  static std::string encode(const Refund& refund) {
    return "1 " + std::to_string(refund.order) + ' ' + std::to_string(refund.cents);
  }

  static Refund decode(std::string_view bytes) {
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    const auto number = [&](auto& into) {
      const auto [next, error] = std::from_chars(at, end, into);
      if (error != std::errc{}) throw std::runtime_error("expected: 1 order cents");
      at = next == end ? end : next + 1;  // and the blank
    };
    int version = 0;
    Refund refund;
    number(version);
    if (version != 1)
      throw std::runtime_error("version " + std::to_string(version) + ", expected 1");
    number(refund.order);
    number(refund.cents);
    return refund;
  }
};

int main(int argc, char** argv) try {
  duly::Connection redis(argc > 1 ? argv[1] : "");
  duly::Client client(redis);
  client.put("refunds",
             duly::typed_job("refund", Refund{.order = 1042, .cents = 4999}, {.delay = 500ms}));

  duly::Worker worker(redis, {.queues = {"refunds"}});
  worker.handle(
      "refund", duly::typed_handler<Refund>([&worker](const Refund& refund, duly::Attempt&) {
        std::cout << "order " << refund.order << ": " << refund.cents << " cents back\n";
        worker.stop();  // This handler still ends well, and its job is acked, before run() returns.
      }));
  worker.run();
} catch (const duly::Error& error) {
  std::cerr << "own_codec: " << to_string(error.code()) << ": " << error.what() << "\n";
  return duly::exit_status(error.code());
}
