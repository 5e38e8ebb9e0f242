#pragma once

// For src/redis only: what an Io is made of.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "src/redis/io.h"

namespace duly::redis {

struct Io::Impl {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{
      context.get_executor()};
  std::thread thread{};
};

}  // namespace duly::redis
