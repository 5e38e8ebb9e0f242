#include "src/redis/io.h"

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <utility>

#include "src/redis/io_context.h"

namespace duly::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class AsioTimer final : public Io::Timer {
 public:
  explicit AsioTimer(asio::io_context& context) : timer_(context) {}

  void arm(SteadyTime when, std::function<void()> work) override {
    timer_.expires_at(when);
    // An old wait that has already been queued must not run: its round is over.
    const auto round = ++*round_;
    timer_.async_wait([round, current = round_, work = std::move(work)](error_code error) {
      if (!error && *current == round) work();
    });
  }

  void cancel() override {
    ++*round_;
    timer_.cancel();
  }

  ~AsioTimer() override { ++*round_; }

 private:
  asio::steady_timer timer_;
  std::shared_ptr<std::uint64_t> round_ = std::make_shared<std::uint64_t>(0);
};

// Signals, as long as a Signals owns it. `work` runs with the mutex held, and is emptied when the
// owner goes.
struct SignalWatch : std::enable_shared_from_this<SignalWatch> {
  SignalWatch(asio::io_context& context, std::function<void(int)> given)
      : signals(context), work(std::move(given)) {}

  void wait() {
    signals.async_wait([weak = weak_from_this()](error_code error, int signal) {
      const auto self = weak.lock();
      if (error || !self) return;
      {
        const std::lock_guard lock(self->mutex);
        // A copy, as it may drop the owner.
        if (const auto copy = self->work) copy(signal);
      }
      self->wait();
    });
  }

  asio::signal_set signals;
  std::recursive_mutex mutex;
  std::function<void(int)> work;
};

// Its end waits for a call that is running, unless it is that call that drops it.
class Signals {
 public:
  explicit Signals(std::shared_ptr<SignalWatch> watch) : watch_(std::move(watch)) {}
  ~Signals() {
    const std::lock_guard lock(watch_->mutex);
    watch_->work = {};
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  std::shared_ptr<SignalWatch> watch_;
};

}  // namespace

Io::Io() : impl_(std::make_unique<Impl>()) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->context.run(); });
}

Io::~Io() { stop(); }

void Io::stop() {
  impl_->context.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

void Io::post(std::function<void()> work) { asio::post(impl_->context, std::move(work)); }

bool Io::on_this_thread() const noexcept {
  return impl_->context.get_executor().running_in_this_thread();
}

std::unique_ptr<Io::Timer> Io::make_timer() { return std::make_unique<AsioTimer>(impl_->context); }

std::shared_ptr<void> Io::on_signals(std::vector<int> signals, std::function<void(int)> work) {
  auto watch = std::make_shared<SignalWatch>(impl_->context, std::move(work));
  for (const int signal : signals) watch->signals.add(signal);
  watch->wait();
  return std::make_shared<Signals>(std::move(watch));
}

}  // namespace duly::redis
