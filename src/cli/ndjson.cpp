#include "src/cli/ndjson.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/cli/job_options.h"
#include "src/core/bytes.h"
#include "src/core/duration.h"
#include "src/core/time_text.h"

namespace duly::cli {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& what, const std::string& expected) {
  throw Error(ErrorCode::invalid_argument, what + ", expected " + expected);
}

// Values are named by their kind alone: they may be part of a payload in the wrong field.
[[noreturn]] void refuse_kind(const std::string& field, const json& value,
                              const std::string& expected) {
  refuse(field + ": " + value.type_name(), expected);
}

std::string text_of(const std::string& field, const json& value) {
  if (!value.is_string()) refuse_kind(field, value, "a string");
  return value.get<std::string>();
}

std::int64_t whole_of(const std::string& field, const json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) {
    refuse(field + ": " + value.dump(), "a whole number below 2^63");
  }
  if (value.is_number_float()) refuse(field + ": " + value.dump(), "a whole number");
  if (!value.is_number_integer()) refuse_kind(field, value, "a whole number");
  return value.get<std::int64_t>();
}

Milliseconds length_of(const std::string& field, const json& value) {
  return Milliseconds(whole_of(field, value));
}

double number_of(const std::string& field, const json& value) {
  if (!value.is_number()) refuse_kind(field, value, "a number");
  return value.get<double>();
}

Backoff backoff_of(const json& object, Backoff backoff) {
  if (!object.is_object()) refuse_kind("backoff", object, "an object");
  for (const auto& [field, value] : object.items()) {
    if (field == "kind") {
      backoff.kind = parse_backoff_kind(text_of(field, value));
    } else if (field == "base_ms") {
      backoff.base = length_of(field, value);
    } else if (field == "cap_ms") {
      backoff.cap = length_of(field, value);
    } else if (field == "factor") {
      backoff.factor = number_of(field, value);
    } else if (field == "jitter") {
      backoff.jitter = number_of(field, value);
    } else {
      refuse("backoff: unknown field \"" + core::printable(core::cut_utf8(field, 60)) + "\"",
             "kind, base_ms, cap_ms, factor, jitter");
    }
  }
  return backoff;
}

/// How many of the fields that say the same thing are there.
std::size_t count_of(const json& object, std::initializer_list<const char*> fields) {
  std::size_t count = 0;
  for (const char* const field : fields) count += object.count(field);
  return count;
}

void set_payload_base64(NewJob& job, const json& value) {
  auto bytes = core::base64_decode(text_of("payload_base64", value));
  if (!bytes) refuse("payload_base64: other characters or length", "base64 with padding");
  job.payload = std::move(*bytes);
}

std::uint32_t whole_in(const std::string& field, const json& value, std::int64_t least,
                       std::int64_t most) {
  const std::int64_t number = whole_of(field, value);
  if (number < least || number > most) {
    refuse(field + ": " + std::to_string(number),
           std::to_string(least) + " .. " + std::to_string(most));
  }
  return static_cast<std::uint32_t>(number);
}

void set_due(NewJob& job, const std::string& field, const json& value) {
  job.delay = Milliseconds{0};
  job.due_at.reset();
  if (field == "in") {
    job.delay = core::parse_duration(text_of(field, value));
  } else if (field == "delay_ms") {
    job.delay = length_of(field, value);
  } else if (field == "at") {
    job.due_at = core::parse_time(text_of(field, value));
  } else {
    job.due_at = SystemTime(length_of(field, value));
  }
}

void set_field(NewJob& job, const std::string& field, const json& value) {
  if (field == "payload") {
    job.payload = text_of(field, value);
  } else if (field == "payload_base64") {
    set_payload_base64(job, value);
  } else if (field == "type") {
    job.type = text_of(field, value);
  } else if (field == "id") {
    job.id = JobId(text_of(field, value));
  } else if (field == "in" || field == "at" || field == "delay_ms" || field == "due_at_ms") {
    set_due(job, field, value);
  } else if (field == "max_attempts") {
    job.max_attempts = whole_in(field, value, 1, Limits::max_attempts);
  } else if (field == "priority") {
    job.priority = whole_in(field, value, 0, Limits::priority);
  } else if (field == "lease_ms") {
    job.lease = length_of(field, value);
  } else if (field == "timeout_ms") {
    job.timeout = length_of(field, value);
  } else if (field == "backoff") {
    job.backoff = backoff_of(value, job.backoff);
  } else {
    refuse("unknown field \"" + core::printable(core::cut_utf8(field, 60)) + "\"",
           "those of duly put --help");
  }
}

// What `export` tells beside what can be put.
void set_was(JobLine& line, const json& was) {
  if (!was.is_object()) refuse_kind("was", was, "an object");
  const json state = was.value("state", json());
  line.was_ended = state == json("dead") || state == json("done");
  line.is_readable = was.value("is_readable", json(true)) != json(false);
}

json object_of(std::string_view line) {
  json object;
  try {
    object = json::parse(line);
  } catch (const json::parse_error& error) {  // Its text quotes the line, so it is not shown.
    refuse("not JSON at byte " + std::to_string(error.byte), "an object");
  } catch (const json::exception&) {
    refuse("a number beyond all bounds", "an object");
  }
  if (!object.is_object()) refuse(std::string("a JSON ") + object.type_name(), "an object");
  return object;
}

}  // namespace

JobLine parse_job_line(std::string_view line, const NewJob& defaults) {
  const json object = object_of(line);
  if (count_of(object, {"payload", "payload_base64"}) > 1) {
    refuse("payload and payload_base64", "one of the two");
  }
  if (count_of(object, {"in", "at", "delay_ms", "due_at_ms"}) > 1) {
    refuse("more than one due time", "one of in, at, delay_ms, due_at_ms");
  }
  JobLine job{.job = defaults};
  for (const auto& [field, value] : object.items()) {
    if (field == "was") {
      set_was(job, value);
    } else {
      set_field(job.job, field, value);
    }
  }
  return job;
}

}  // namespace duly::cli
