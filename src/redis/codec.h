#pragma once

#include <memory>
#include <string_view>

#include "src/redis/reply.h"

struct redisReader;

namespace duly::redis {

/// Decodes a stream of RESP2 replies: bytes in, replies out.
class Codec {
 public:
  Codec();
  ~Codec();
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  void feed(std::string_view bytes);

  enum class Next { reply, need_more, broken };
  /// `broken`: what came is not RESP, or no reply that anybody asks for; the connection is of no
  /// more use.
  Next next(Reply& reply);

 private:
  struct Free {
    void operator()(redisReader* reader) const;
  };
  Reply root_{};  // the reply that is being read
  std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace duly::redis
