#pragma once

// For src/redis only.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <utility>

namespace duly::redis {

/// Starts a coroutine that nobody waits for. What it throws ends the process, rather than the
/// coroutine alone with all that depends on it.
template <class Start>
void spawn(boost::asio::io_context& context, Start start) {
  boost::asio::co_spawn(context, std::move(start), [](std::exception_ptr thrown) noexcept {
    if (thrown) std::rethrow_exception(std::move(thrown));
  });
}

}  // namespace duly::redis
