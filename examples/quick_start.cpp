#include <duly/duly.h>

#include <iostream>

using namespace std::chrono_literals;

int main() {
  duly::Connection redis;  // what DULY_REDIS names, or a private Redis that starts by itself
  duly::Client client(redis);
  client.put("mail", {.type = "welcome", .payload = "Ada", .delay = 2s});

  duly::Worker worker(redis, {.queues = {"mail"}, .concurrency = 4});
  worker.handle("welcome", [&](duly::Attempt& attempt) {
    std::cout << "Welcome, " << attempt.job().payload << "!\n";
    worker.stop();
  });
  worker.run();  // returning acks the job, throwing makes it run again later
}
