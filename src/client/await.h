#pragma once

#include <future>
#include <memory>
#include <utility>

#include "src/core/result.h"

namespace duly {

/// A callback that fulfils a promise, and its future.
template <class T>
std::pair<Done<T>, std::future<T>> promised() {
  auto promise = std::make_shared<std::promise<T>>();
  std::future<T> future = promise->get_future();
  return {[promise](Result<T> result) {
            if (result.ok()) {
              promise->set_value(std::move(result).value());
            } else {
              promise->set_exception(std::make_exception_ptr(result.error()));
            }
          },
          std::move(future)};
}

/// Runs what answers by callback, and waits for the answer; throws its error. Not on the Io's
/// thread.
template <class T, class Start>
T await(Start start) {
  auto [done, future] = promised<T>();
  start(std::move(done));
  return future.get();
}

}  // namespace duly
