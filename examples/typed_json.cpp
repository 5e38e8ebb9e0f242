// A struct as JSON, with nlohmann's library: put it, run it, and what happens to JSON that does not
// fit. Usage: typed_json [REDIS-URL]
#include <duly/duly.h>
#include <duly/nlohmann.h>

#include <iostream>
#include <string>
#include <vector>

using namespace std::chrono_literals;

// All that nlohmann can convert is a payload: nested structs, lists, maps.
struct Item {
  std::string name;
  int count = 1;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Item, name, count)

struct Parcel {
  std::string to;
  std::vector<Item> items;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parcel, to, items)

int main(int argc, char** argv) try {
  duly::Connection redis(argc > 1 ? argv[1] : "");
  duly::Client client(redis);
  const Parcel parcel{.to = "Ada", .items = {{"tea", 2}, {"cup", 1}}};
  client.put("parcels", duly::typed_job("send", parcel, {.delay = 1s}));
  // Somebody else's program, with a field missing.
  client.put("parcels", {.type = "send", .payload = R"({"to":"Grace"})", .delay = 1s});

  int ended = 0;
  duly::WorkerOptions options{.queues = {"parcels"}};
  duly::Worker* running = nullptr;
  // Called from one thread of its own, so `ended` needs no lock.
  options.on_finished = [&](const duly::WorkerOptions::Report& report) {
    std::cout << to_string(report.outcome) << (report.error.empty() ? "" : ": ") << report.error
              << "\n";
    if (++ended == 2) running->stop();
  };
  duly::Worker worker(redis, options);
  running = &worker;
  // The payload arrives decoded. One that does not decode makes its job dead: trying again would
  // not help.
  worker.handle("send", duly::typed_handler<Parcel>([](const Parcel& found, duly::Attempt&) {
                  std::cout << "for " + found.to + ": " + std::to_string(found.items.size()) +
                                   " kinds of things\n";
                }));
  worker.run();
} catch (const duly::Error& error) {
  std::cerr << "typed_json: " << to_string(error.code()) << ": " << error.what() << "\n";
  return duly::exit_status(error.code());
}
