#include "src/cli/put_stream.h"

#include <deque>
#include <future>
#include <utility>
#include <vector>

#include "duly/client.h"
#include "src/cli/job_text.h"
#include "src/cli/line_reader.h"
#include "src/cli/logging.h"
#include "src/cli/ndjson.h"
#include "src/cli/output.h"
#include "src/cli/progress.h"
#include "src/core/bytes.h"
#include "src/core/check.h"

namespace duly::cli {
namespace {

constexpr std::size_t kBatchJobs = 500;
constexpr std::size_t kBatchBytes = Limits::piece_bytes;
constexpr std::size_t kUnderWay = 4;  // Enough that Redis never waits for the reader.

// A line may spell each payload byte in six ("\u00e9" and the like), and has other fields too.
constexpr std::size_t longest_line(std::size_t payload_limit) {
  return payload_limit * 6 + 64UL * 1024;
}

/// Lines that leave together. A line that was refused here stands among them, so that results come
/// in the order of the lines.
struct Batch {
  struct Entry {
    std::uint64_t line;
    std::optional<Error> refused{};
    bool is_left_out = false;
  };
  std::vector<Entry> entries{};
  std::vector<NewJob> jobs{};
  std::size_t bytes = 0;
  std::future<std::vector<PutResult>> results{};

  [[nodiscard]] bool is_full() const {
    return entries.size() >= kBatchJobs || bytes >= kBatchBytes;
  }
};

struct Counts {
  std::uint64_t created = 0;
  std::uint64_t existed = 0;
  std::uint64_t refused = 0;
  std::uint64_t unknown = 0;
  std::uint64_t not_put = 0;
  std::uint64_t left_out = 0;
};

class Streamer {
 public:
  Streamer(const Context& context, const PutStream& stream)
      : context_(context),
        stream_(stream),
        payload_limit_(context.connection.payload_limit),
        reader_(stream.path, longest_line(payload_limit_)),
        client_(context.connect()),
        progress_(context.is_quiet ? Progress::Show::nothing : Progress::Show::all,
                  reader_.size()) {}

  int run() {
    while (!stopped_) {
      if (reader_.would_wait()) {  // What has come must not wait for what may come.
        send();
        settle_all();
        if (stopped_) break;
      }
      auto line = reader_.next();
      if (!line) break;
      take(std::move(*line));
      if (batch_.is_full()) send();
      progress_.update(counts_.created + counts_.existed, reader_.bytes_done());
    }
    if (!stopped_) send();
    settle_all();
    progress_.clear();
    flush_output();
    if (!context_.is_quiet) notice(summary());
    return status();
  }

 private:
  void take(Line line) {
    if (line.text.find_first_not_of(" \t\r") == std::string::npos && !line.is_too_long) return;
    Batch::Entry entry{.line = line.number};
    try {
      if (line.is_too_long) {
        throw Error(ErrorCode::invalid_argument,
                    "longer than " + std::to_string(longest_line(payload_limit_)) +
                        " bytes, expected a payload of at most " + std::to_string(payload_limit_));
      }
      JobLine found = parse_job_line(line.text, stream_.defaults);
      if (found.was_ended && stream_.ended == PutStream::Ended::leave_out) {
        entry.is_left_out = true;
      } else if (!found.is_readable) {
        throw Error(ErrorCode::invalid_argument, "an unreadable record, expected a job");
      } else {
        core::require(core::check_job(found.job, payload_limit_));
        batch_.bytes += found.job.payload.size();
        batch_.jobs.push_back(std::move(found.job));
      }
    } catch (const Error& error) {
      entry.refused = error;
    }
    batch_.entries.push_back(std::move(entry));
  }

  void send() {
    if (batch_.entries.empty()) return;
    Batch batch = std::exchange(batch_, {});
    if (!batch.jobs.empty()) {
      batch.results = client_.put_async(stream_.queue, std::exchange(batch.jobs, {}));
    }
    under_way_.push_back(std::move(batch));
    if (under_way_.size() >= kUnderWay) settle_first();
  }

  void settle_all() {
    while (!under_way_.empty()) settle_first();
    if (context_.is_json) flush_output();
  }

  void settle_first() {
    Batch batch = std::move(under_way_.front());
    under_way_.pop_front();
    std::vector<PutResult> results;
    if (batch.results.valid()) results = batch.results.get();
    std::size_t next = 0;
    for (const Batch::Entry& entry : batch.entries) {
      if (entry.is_left_out) {
        ++counts_.left_out;
        if (context_.is_json) print_json(Json{{"line", entry.line}, {"outcome", "left_out"}});
      } else if (entry.refused) {
        count(entry.line, {.outcome = PutOutcome::refused, .error = entry.refused});
      } else {
        count(entry.line, results.at(next++));
      }
    }
  }

  void count(std::uint64_t line, const PutResult& result) {
    if (result.error) {
      count_error(line, *result.error);
    } else {
      ++(result.outcome == PutOutcome::created ? counts_.created : counts_.existed);
    }
    if (context_.is_json) print_result(line, result);
  }

  void count_error(std::uint64_t line, const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) {
      ++counts_.refused;
      if (!context_.is_json) say(line, error);
      return;
    }
    ++(error.code() == ErrorCode::outcome_unknown ? counts_.unknown : counts_.not_put);
    if (stopped_) return;
    stopped_ = error;
    say(line, error);
  }

  void say(std::uint64_t line, const Error& error) {
    progress_.clear();
    notice("line " + std::to_string(line) + ": " + core::printable(error.what()));
  }

  static void print_result(std::uint64_t line, const PutResult& result) {
    Json told{{"line", line}};
    told.update(put_json(result));
    if (result.id.empty()) told["id"] = nullptr;
    if (result.error) {
      told["error"] = {{"code", to_string(result.error->code())},
                       {"message", result.error->what()}};
    }
    print_json(told);
  }

  [[nodiscard]] std::string summary() const {
    const auto number = [](std::uint64_t n) { return std::to_string(n); };
    std::string text = "put " + number(counts_.created) + " jobs, " +
                       number(rate(counts_.created, progress_.elapsed())) + "/s";
    if (counts_.existed > 0) text += "; " + number(counts_.existed) + " existed already";
    if (counts_.left_out > 0) text += "; " + number(counts_.left_out) + " dead or done left out";
    if (counts_.unknown > 0) text += "; of " + number(counts_.unknown) + " the outcome is unknown";
    if (counts_.not_put > 0) text += "; " + number(counts_.not_put) + " not put";
    if (counts_.refused > 0) text += "; " + number(counts_.refused) + " lines refused";
    if (stopped_) text += "; stopped, the lines that follow were not read";
    if (stopped_ || counts_.refused > 0) text += "; what was put stays";
    return text;
  }

  [[nodiscard]] int status() const {
    if (stopped_) return exit_status(stopped_->code());
    if (counts_.refused > 0) return exit_status(ErrorCode::invalid_argument);
    return counts_.existed > 0 ? kNothingChanged : 0;
  }

  const Context& context_;
  const PutStream& stream_;
  std::size_t payload_limit_;
  LineReader reader_;
  Client client_;
  Progress progress_;
  Batch batch_{};
  std::deque<Batch> under_way_{};
  Counts counts_{};
  std::optional<Error> stopped_{};
};

}  // namespace

int put_stream(const Context& context, const PutStream& stream) {
  return Streamer(context, stream).run();
}

}  // namespace duly::cli
