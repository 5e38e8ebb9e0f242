#include "duly/connection.h"

#include <cstdlib>
#include <thread>

#include "duly/job.h"
#include "src/client/shared.h"
#include "src/core/check.h"
#include "src/engine/function_engine.h"
#include "src/redis/standalone.h"

namespace duly {
namespace {

void check(const ConnectionOptions& options) {
  const auto refuse = [](const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
  };
  if (options.timeout < Milliseconds{1}) refuse("timeout: under 1 ms, expected 1 ms or more");
  if (options.payload_limit > Limits::payload_most) {
    refuse("payload_limit: " + std::to_string(options.payload_limit) + " bytes, expected 0 .. " +
           std::to_string(Limits::payload_most));
  }
  if (options.requests_in_flight == 0) refuse("requests_in_flight: 0, expected 1 or more");
  if (options.bytes_in_flight == 0) refuse("bytes_in_flight: 0, expected 1 or more");
}

}  // namespace

Connection::Shared::Shared(ConnectionOptions given)
    : options(std::move(given)),
      budget(std::make_shared<Budget>(options.requests_in_flight, options.bytes_in_flight)) {
  check(options);
  if (options.redis.empty()) {
    if (const char* const url = std::getenv("DULY_REDIS")) options.redis = url;
  }
  if (options.redis.empty()) {
    if (options.data.empty()) options.data = EmbeddedRedis::default_folder();
    embedded = std::make_unique<EmbeddedRedis>(options.data, options.log);
  }
  redis::Url url = redis::parse_url(embedded ? embedded->url() : options.redis);
  const auto database = static_cast<int>(url.database);
  topology = redis::make_standalone(io, {.url = std::move(url),
                                         .ca_file = options.ca_file,
                                         .certificate_file = options.certificate_file,
                                         .key_file = options.key_file,
                                         .client_name = options.client_name,
                                         .requests_in_flight = options.requests_in_flight,
                                         .bytes_in_flight = options.bytes_in_flight,
                                         .log = options.log});
  engine = make_function_engine(io, topology,
                                {.warn =
                                     [tell = options.log](const std::string& text) {
                                       if (tell) tell(LogLevel::warning, text);
                                     },
                                 .database = database,
                                 .process_name = ids.process_name()});
}

Connection::Shared::~Shared() {
  io.stop();
  engine.reset();
  topology.reset();
}

// The last copy may go inside a callback, and a thread cannot join itself.
Connection::Connection(ConnectionOptions options)
    : shared_(new Shared(std::move(options)), [](Shared* shared) {
        if (!shared->io.on_this_thread()) {
          delete shared;
          return;
        }
        std::thread([shared] { delete shared; }).detach();
      }) {}

std::string Connection::address() const { return shared_->topology->address(); }

}  // namespace duly
