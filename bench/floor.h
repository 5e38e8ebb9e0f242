#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace duly::bench {

/// One blocking connection straight through hiredis, without any of duly: for the floor that stands
/// beside duly's figures, and for looking into the server. Not safe to call from several threads.
///
/// Errors  unavailable: the link is broken; internal: Redis answers an error.
class RawLink {
 public:
  explicit RawLink(int port);  ///< At 127.0.0.1.
  ~RawLink();
  RawLink(const RawLink&) = delete;
  RawLink& operator=(const RawLink&) = delete;

  /// Adds a command to those that the next flush() sends.
  void append(std::span<const std::string_view> words);
  /// Sends what was appended in one go, and waits for all replies.
  void flush();

  /// One command; its reply, a list flattened by one level, numbers as texts.
  std::vector<std::string> ask(std::initializer_list<std::string_view> words);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What any queue of a sorted set and a hash must do in Redis, and nothing else: HSET and ZADD to
/// put a job, ZREM and HDEL to end it. No claim is read, no payload comes back, no lease is kept.
class Floor {
 public:
  enum class Form {
    each,      ///< Each job has its own four commands; pipelined, one batch outstanding.
    variadic,  ///< Each batch has four commands.
  };

  /// `name` begins the names of the two keys, `id_begin` all ids.
  Floor(int port, const std::string& name, Form form, std::string id_begin = "");

  /// Stores `due_at_ms.size()` jobs of 100 bytes under fresh ids of 20 characters.
  void put(std::span<const std::int64_t> due_at_ms);
  /// Removes the jobs of the last put.
  void finish();

 private:
  void add_id();

  RawLink link_;
  Form form_;
  std::string due_key_;
  std::string jobs_key_;
  std::string id_begin_;
  std::string payload_;
  std::uint64_t last_id_ = 0;
  std::vector<std::string> ids_{};
};

}  // namespace duly::bench
