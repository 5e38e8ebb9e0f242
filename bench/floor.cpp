#include "bench/floor.h"

#include <utility>

namespace duly::bench {
namespace {

constexpr std::size_t kIdLength = 20;
constexpr std::size_t kPayload = 100;

}  // namespace

Floor::Floor(int port, const std::string& name, Form form, std::string id_begin)
    : link_(port),
      form_(form),
      due_key_(name + ":due"),
      jobs_key_(name + ":jobs"),
      id_begin_(std::move(id_begin)),
      payload_(kPayload, 'x') {}

void Floor::add_id() {
  const std::string number = std::to_string(++last_id_);
  std::string& id = ids_.emplace_back(id_begin_);
  id.append(kIdLength - id.size() - number.size(), '0').append(number);
}

void Floor::put(std::span<const std::int64_t> due_at_ms) {
  ids_.clear();
  std::vector<std::string> due;
  due.reserve(due_at_ms.size());
  for (const std::int64_t at : due_at_ms) {
    add_id();
    due.push_back(std::to_string(at));
  }
  if (form_ == Form::each) {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      link_.append(std::initializer_list<std::string_view>{"HSET", jobs_key_, ids_[i], payload_});
      link_.append(std::initializer_list<std::string_view>{"ZADD", due_key_, due[i], ids_[i]});
    }
    return link_.flush();
  }
  std::vector<std::string_view> store{"HSET", jobs_key_};
  std::vector<std::string_view> line_up{"ZADD", due_key_};
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    store.insert(store.end(), {ids_[i], payload_});
    line_up.insert(line_up.end(), {due[i], ids_[i]});
  }
  link_.append(store);
  link_.append(line_up);
  link_.flush();
}

void Floor::finish() {
  if (form_ == Form::each) {
    for (const std::string& id : ids_) {
      link_.append(std::initializer_list<std::string_view>{"ZREM", due_key_, id});
      link_.append(std::initializer_list<std::string_view>{"HDEL", jobs_key_, id});
    }
    return link_.flush();
  }
  std::vector<std::string_view> leave{"ZREM", due_key_};
  std::vector<std::string_view> drop{"HDEL", jobs_key_};
  leave.insert(leave.end(), ids_.begin(), ids_.end());
  drop.insert(drop.end(), ids_.begin(), ids_.end());
  link_.append(leave);
  link_.append(drop);
  link_.flush();
}

}  // namespace duly::bench
