#include "src/redis/codec.h"

#include <hiredis/hiredis.h>

#include <new>
#include <utility>

namespace duly::redis {

std::string_view Reply::error_word() const noexcept {
  if (!is_error()) return {};
  const std::string_view all = text;
  return all.substr(0, all.find_first_of(" :"));
}

namespace {

// The largest replies have some thousands of items: a length beyond this is damage, not a reply.
constexpr std::size_t kMostItems = 1'000'000;
// What the reader keeps for itself between replies; more is given back.
constexpr std::size_t kKeptBytes = 256UL * 1024;

// hiredis builds our replies directly: an element goes into its place in the parent's items, which
// have been made at once when the array began, so that addresses stay.
Reply* place(const redisReadTask* task) {
  if (task->parent == nullptr) {
    auto* const root = static_cast<Reply*>(task->privdata);
    *root = Reply{};
    return root;
  }
  auto* const parent = static_cast<Reply*>(task->parent->obj);
  return &parent->items[static_cast<std::size_t>(task->idx)];
}

// No exception may pass through hiredis: it takes a null for "no memory" and reads no further.
void* create_string(const redisReadTask* task, char* bytes, std::size_t size) noexcept {
  try {
    Reply* const reply = place(task);
    reply->kind = task->type == REDIS_REPLY_ERROR    ? Reply::Kind::error
                  : task->type == REDIS_REPLY_STATUS ? Reply::Kind::status
                                                     : Reply::Kind::text;
    reply->text.assign(bytes, size);
    return reply;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// The size is an int in hiredis 0.14 and a size_t later.
template <class Size>
void* create_array(const redisReadTask* task, Size size) noexcept {
  if (static_cast<std::size_t>(size) > kMostItems) return nullptr;
  try {
    Reply* const reply = place(task);
    reply->kind = Reply::Kind::array;
    reply->items.resize(static_cast<std::size_t>(size));
    return reply;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* create_integer(const redisReadTask* task, long long value) noexcept {
  Reply* const reply = place(task);
  reply->kind = Reply::Kind::integer;
  reply->integer = value;
  return reply;
}

void* create_nil(const redisReadTask* task) noexcept { return place(task); }

// The root belongs to the codec, and all else to the root.
void free_nothing(void*) noexcept {}

redisReplyObjectFunctions make_functions() {
  redisReplyObjectFunctions functions{};
  functions.createString = create_string;
  functions.createArray = create_array;
  functions.createInteger = create_integer;
  functions.createNil = create_nil;
  functions.freeObject = free_nothing;
  return functions;
}

}  // namespace

Codec::Codec() {
  static redisReplyObjectFunctions functions = make_functions();
  reader_.reset(redisReaderCreateWithFunctions(&functions));
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = &root_;
  reader_->maxbuf = kKeptBytes;
}

Codec::~Codec() = default;

void Codec::Free::operator()(redisReader* reader) const { redisReaderFree(reader); }

// A reader that could not take the bytes says so from now on.
void Codec::feed(std::string_view bytes) {
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
}

Codec::Next Codec::next(Reply& reply) {
  void* made = nullptr;
  if (redisReaderGetReply(reader_.get(), &made) != REDIS_OK) return Next::broken;
  if (made == nullptr) return Next::need_more;
  // hiredis 1 has kinds of reply that RESP2 has not, and makes something else of them.
  if (made != &root_) return Next::broken;
  reply = std::move(root_);
  return Next::reply;
}

}  // namespace duly::redis
