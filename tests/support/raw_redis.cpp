#include "tests/support/raw_redis.h"

#include <hiredis/hiredis.h>

#include <stdexcept>

namespace duly::testing {
namespace {

redis::Reply converted(const redisReply& raw) {
  using Kind = redis::Reply::Kind;
  redis::Reply reply;
  if (raw.str != nullptr) reply.text.assign(raw.str, raw.len);
  switch (raw.type) {
    case REDIS_REPLY_INTEGER:
      reply.kind = Kind::integer;
      reply.integer = raw.integer;
      break;
    case REDIS_REPLY_STRING:
      reply.kind = Kind::text;
      break;
    case REDIS_REPLY_STATUS:
      reply.kind = Kind::status;
      break;
    case REDIS_REPLY_ERROR:
      reply.kind = Kind::error;
      break;
    case REDIS_REPLY_ARRAY:
      reply.kind = Kind::array;
      for (std::size_t i = 0; i < raw.elements; ++i)
        reply.items.push_back(converted(*raw.element[i]));
      break;
    default:
      break;
  }
  return reply;
}

}  // namespace

RawRedis::RawRedis(const std::string& socket)
    : link_(redisConnectUnix(socket.c_str()), &redisFree) {
  if (!link_ || link_->err != 0) throw std::runtime_error("redis: nobody listens on " + socket);
}

redis::Reply RawRedis::command(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> lengths;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    lengths.push_back(word.size());
  }
  const std::unique_ptr<redisReply, void (*)(void*)> raw(
      static_cast<redisReply*>(redisCommandArgv(link_.get(), static_cast<int>(words.size()),
                                                texts.data(), lengths.data())),
      &freeReplyObject);
  if (!raw) throw std::runtime_error("redis: the connection broke");
  return converted(*raw);
}

}  // namespace duly::testing
