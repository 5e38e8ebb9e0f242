#include "src/redis/standalone.h"

#include <utility>

#include "src/redis/link.h"
#include "src/redis/stream.h"
#include "src/redis/subscriber.h"

namespace duly::redis {
namespace {

class Standalone final : public Topology {
 public:
  Standalone(Io& io, const LinkOptions& options)
      : io_(io),
        link_(std::make_shared<Link>(io, options)),
        subscriber_(std::make_shared<Subscriber>(io, options)) {}

  // Coroutines under way hold link and subscriber: they are told to end, or end with the Io.
  ~Standalone() override {
    io_.post([link = link_, subscriber = subscriber_] {
      link->close();
      subscriber->close();
    });
  }

  void send(std::string_view, Command command, SteadyTime deadline, OnEnding on_ending) override {
    link_->send(std::move(command), deadline, std::move(on_ending));
  }

  std::unique_ptr<Subscription> subscribe(std::string channel, OnChannel on_channel) override {
    return subscriber_->subscribe(std::move(channel), std::move(on_channel));
  }

  [[nodiscard]] std::uint64_t generation() const override { return link_->generation(); }
  [[nodiscard]] std::string address() const override { return link_->address(); }

 private:
  Io& io_;
  std::shared_ptr<Link> link_;
  std::shared_ptr<Subscriber> subscriber_;
};

}  // namespace

std::shared_ptr<Topology> make_standalone(Io& io, LinkOptions options) {
  if (options.url.is_tls) check_tls_files(options);
  return std::make_shared<Standalone>(io, options);
}

}  // namespace duly::redis
