#include "src/cli/job_options.h"

#include "src/cli/arguments.h"
#include "src/core/bytes.h"

namespace duly::cli {

Backoff::Kind parse_backoff_kind(const std::string& word) {
  if (word == "exponential") return Backoff::Kind::exponential;
  if (word == "fixed") return Backoff::Kind::fixed;
  throw Error(ErrorCode::invalid_argument, "backoff: \"" +
                                               core::printable(core::cut_utf8(word, 60)) +
                                               "\", expected exponential or fixed");
}

void JobOptions::add_to(CLI::App& command) {
  CLI::Option* const in =
      add_duration(command, "--in", delay_, "Due so long after Redis stores it [at once]");
  add_time(command, "--at", due_at_, "Due at this time; the past means at once")->excludes(in);
  add_text(command, "--id", id_, "Your own id; a put of the same id is no second job");
  add_common_to(command);
}

void JobOptions::add_common_to(CLI::App& command) {
  add_text(command, "--type", type_, "Names the handler");
  add_number(command, "--priority", priority_, {0, Limits::priority},
             "Of what is due, 9 goes first [0]");
  add_number(command, "--max-attempts", max_attempts_, {1, Limits::max_attempts},
             "The first run counts [20]");
  add_duration(command, "--lease", lease_, "Overrides the claimer's lease");
  add_duration(command, "--attempt-timeout", timeout_, "Limit of one attempt [30m]");
  add_text(command, "--backoff", backoff_kind_, "How the wait between attempts grows [exponential]")
      ->type_name("exponential|fixed");
  add_duration(command, "--backoff-base", backoff_base_, "Wait after the first failure [10s]");
  add_duration(command, "--backoff-cap", backoff_cap_, "Longest wait [6h]");
  add_fraction(command, "--backoff-factor", backoff_factor_, "Growth from wait to wait [2]");
  add_fraction(command, "--jitter", jitter_, "Random part added to a wait, 0 .. 1 [0.2]");
}

NewJob JobOptions::job() const {
  NewJob job;
  job.type = type_.value_or("");
  if (id_) job.id = JobId(*id_);
  job.delay = delay_.value_or(job.delay);
  job.due_at = due_at_;
  if (priority_) job.priority = static_cast<std::uint32_t>(*priority_);
  if (max_attempts_) job.max_attempts = static_cast<std::uint32_t>(*max_attempts_);
  job.lease = lease_.value_or(job.lease);
  job.timeout = timeout_.value_or(job.timeout);
  if (backoff_kind_) job.backoff.kind = parse_backoff_kind(*backoff_kind_);
  job.backoff.base = backoff_base_.value_or(job.backoff.base);
  job.backoff.cap = backoff_cap_.value_or(job.backoff.cap);
  job.backoff.factor = backoff_factor_.value_or(job.backoff.factor);
  job.backoff.jitter = jitter_.value_or(job.backoff.jitter);
  return job;
}

}  // namespace duly::cli
