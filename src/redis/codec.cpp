#include "src/redis/codec.h"

#include <hiredis/hiredis.h>

#include <utility>

namespace duly::redis {

std::string_view Reply::error_word() const noexcept {
  if (!is_error()) return {};
  const std::string_view all = text;
  return all.substr(0, all.find_first_of(" :"));
}

namespace {

// hiredis builds our replies directly: an element goes into its place in the parent's items, which have been made
// at once when the array began, so that addresses stay.
Reply* place(const redisReadTask* task) {
  if (task->parent == nullptr) return new Reply();
  auto* const parent = static_cast<Reply*>(task->parent->obj);
  return &parent->items[static_cast<std::size_t>(task->idx)];
}

void* create_string(const redisReadTask* task, char* bytes, std::size_t size) {
  Reply* const reply = place(task);
  reply->kind = task->type == REDIS_REPLY_ERROR    ? Reply::Kind::error
                : task->type == REDIS_REPLY_STATUS ? Reply::Kind::status
                                                   : Reply::Kind::text;
  reply->text.assign(bytes, size);
  return reply;
}

// The size is an int in hiredis 0.14 and a size_t later.
template <class Size>
void* create_array(const redisReadTask* task, Size size) {
  Reply* const reply = place(task);
  reply->kind = Reply::Kind::array;
  reply->items.resize(static_cast<std::size_t>(size));
  return reply;
}

void* create_integer(const redisReadTask* task, long long value) {
  Reply* const reply = place(task);
  reply->kind = Reply::Kind::integer;
  reply->integer = value;
  return reply;
}

void* create_nil(const redisReadTask* task) { return place(task); }

void free_reply(void* reply) { delete static_cast<Reply*>(reply); }

redisReplyObjectFunctions make_functions() {
  redisReplyObjectFunctions functions{};
  functions.createString = create_string;
  functions.createArray = create_array;
  functions.createInteger = create_integer;
  functions.createNil = create_nil;
  functions.freeObject = free_reply;
  return functions;
}

}  // namespace

Codec::Codec() {
  static redisReplyObjectFunctions functions = make_functions();
  reader_.reset(redisReaderCreateWithFunctions(&functions));
}

Codec::~Codec() = default;

void Codec::Free::operator()(redisReader* reader) const { redisReaderFree(reader); }

void Codec::feed(std::string_view bytes) { redisReaderFeed(reader_.get(), bytes.data(), bytes.size()); }

Codec::Next Codec::next(Reply& reply) {
  void* made = nullptr;
  if (redisReaderGetReply(reader_.get(), &made) != REDIS_OK) return Next::broken;
  if (made == nullptr) return Next::need_more;
  const std::unique_ptr<Reply> owned(static_cast<Reply*>(made));
  reply = std::move(*owned);
  return Next::reply;
}

}  // namespace duly::redis
