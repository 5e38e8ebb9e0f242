#include <hiredis/hiredis.h>

#include "bench/floor.h"
#include "duly/error.h"

namespace duly::bench {
namespace {

using Context = std::unique_ptr<redisContext, decltype(&redisFree)>;
using Reply = std::unique_ptr<redisReply, decltype(&freeReplyObject)>;

std::string text_of(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_INTEGER) return std::to_string(reply.integer);
  return reply.str == nullptr ? std::string{} : std::string(reply.str, reply.len);
}

}  // namespace

struct RawLink::Impl {
  Context context{nullptr, &redisFree};
  std::size_t open = 0;  // commands without a reply
  std::vector<const char*> words{};
  std::vector<std::size_t> lengths{};

  [[noreturn]] void fail() const {
    throw Error(ErrorCode::unavailable, std::string("raw link: ") + context->errstr);
  }

  Reply next_reply() {
    void* raw = nullptr;
    if (redisGetReply(context.get(), &raw) != REDIS_OK) fail();
    --open;
    Reply reply(static_cast<redisReply*>(raw), &freeReplyObject);
    if (reply->type == REDIS_REPLY_ERROR) {
      throw Error(ErrorCode::internal, "raw link: " + text_of(*reply));
    }
    return reply;
  }
};

RawLink::RawLink(int port) : impl_(std::make_unique<Impl>()) {
  impl_->context.reset(redisConnect("127.0.0.1", port));
  if (!impl_->context) throw Error(ErrorCode::unavailable, "raw link: no memory");
  if (impl_->context->err != 0) impl_->fail();
}

RawLink::~RawLink() = default;

void RawLink::append(std::span<const std::string_view> words) {
  impl_->words.clear();
  impl_->lengths.clear();
  for (const std::string_view word : words) {
    impl_->words.push_back(word.data());
    impl_->lengths.push_back(word.size());
  }
  if (redisAppendCommandArgv(impl_->context.get(), static_cast<int>(words.size()),
                             impl_->words.data(), impl_->lengths.data()) != REDIS_OK) {
    impl_->fail();
  }
  ++impl_->open;
}

void RawLink::flush() {
  while (impl_->open > 0) impl_->next_reply();
}

std::vector<std::string> RawLink::ask(std::initializer_list<std::string_view> words) {
  append({words.begin(), words.size()});
  const Reply reply = impl_->next_reply();
  if (reply->type != REDIS_REPLY_ARRAY) return {text_of(*reply)};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < reply->elements; ++i) texts.push_back(text_of(*reply->element[i]));
  return texts;
}

}  // namespace duly::bench
