#include "src/cli/job_list.h"

#include <algorithm>

#include "duly/admin.h"
#include "src/cli/due_text.h"
#include "src/cli/job_state.h"
#include "src/cli/job_text.h"
#include "src/cli/logging.h"
#include "src/cli/output.h"
#include "src/cli/table.h"
#include "src/core/bytes.h"
#include "src/core/time_text.h"

namespace duly::cli {
namespace {

constexpr std::size_t kPreview = 40;

/// The time that counts in the job's state: due, died or done.
std::optional<SystemTime> time_of(const JobInfo& job) {
  if (job.state == JobState::done) return job.done_at;
  return job.state == JobState::dead ? job.died_at : job.due_at;
}

/// What there is to say of it in a few words: a dead job's end, a done job's result, else its
/// payload.
std::string note_of(const JobInfo& job) {
  if (job.state == JobState::done && !job.result.empty()) return preview(job.result, kPreview);
  if (job.state != JobState::dead) return preview(job.payload, kPreview);
  std::string note = job.dead_reason ? std::string(to_string(*job.dead_reason)) : "";
  if (!job.last_error.empty()) {
    note += ": " + core::printable(core::cut_utf8(job.last_error, kPreview));
  }
  return note;
}

std::vector<Cell> row_of(const JobInfo& job) {
  const auto time = time_of(job);
  return {{core::printable(job.id.text())},
          {std::string(to_string(job.state)), colour_of(job.state)},
          {core::printable(job.type)},
          {std::to_string(job.failures)},
          {time ? from_now(*time) : "-"},
          {time ? core::format_time(*time) : "-", Colour::dim},
          {note_of(job)}};
}

class Printer {
 public:
  Printer(const Context& context, const JobList& list)
      : context_(context), list_(list), admin_(context.connect()) {}

  void print_state(JobState state) {
    std::uint64_t left = list_.most.value_or(UINT64_MAX);
    ListOptions options;
    do {
      options.most = std::min<std::uint64_t>(left, Limits::piece);
      JobPage page = admin_.list(list_.queue, state, options);
      left -= std::min<std::uint64_t>(left, page.jobs.size());
      print_page(page.jobs);
      options.after = page.next.value_or("");
    } while (!options.after.empty() && left > 0);
    if (!options.after.empty()) has_more_ = true;
  }

  [[nodiscard]] bool has_more() const { return has_more_; }

 private:
  void print_page(const std::vector<JobInfo>& jobs) {
    for (const JobInfo& job : jobs) {
      if (context_.is_json) {
        print_json(info_json(job));
      } else {
        table_.add(row_of(job));
      }
    }
    if (!context_.is_json && !jobs.empty()) print(table_.take_text());
  }

  const Context& context_;
  const JobList& list_;
  Admin admin_;
  Table table_{{{"ID"},
                {"STATE"},
                {"TYPE"},
                {"FAILURES", Table::Side::right},
                {"WHEN"},
                {"DUE OR ENDED (UTC)"},
                {"PAYLOAD, ERROR OR RESULT"}}};
  bool has_more_ = false;
};

}  // namespace

int print_jobs(const Context& context, const JobList& list) {
  Printer printer(context, list);
  for (const JobState state : list.states) printer.print_state(state);
  if (printer.has_more() && !context.is_quiet && !context.is_json) {
    flush_output();
    notice("there are more; --most N or --all shows them");
  }
  return 0;
}

}  // namespace duly::cli
