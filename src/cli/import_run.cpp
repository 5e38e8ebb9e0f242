#include "src/cli/import_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "duly/admin.h"
#include "src/cli/due_text.h"
#include "src/cli/logging.h"
#include "src/cli/output.h"
#include "src/cli/progress.h"
#include "src/cli/stop_signals.h"
#include "src/core/bytes.h"
#include "src/core/time_text.h"

namespace duly::cli {
namespace {

constexpr std::uint64_t kMostUnknown = 3;
constexpr Milliseconds kLookAgain{200};       // While nothing comes in.
constexpr Milliseconds kLookAgainMost{5000};  // Where much is left behind, and looked at each time.

struct Reason {
  std::string_view name;
  std::string_view text;
  std::uint64_t ImportPiece::*count;
};

constexpr std::array kReasons{
    Reason{"not_a_time", "score is not a time from 1970 to 9999", &ImportPiece::not_a_time},
    Reason{"no_content", "not in the hash", &ImportPiece::no_content},
    Reason{"too_large", "payload beyond the limit", &ImportPiece::too_large},
    Reason{"full", "queue is full", &ImportPiece::full},
    Reason{"in_use", "a job of this id is active, dead or done", &ImportPiece::in_use}};

std::uint64_t left_in(const ImportPiece& piece) {
  std::uint64_t sum = 0;
  for (const Reason& reason : kReasons) sum += piece.*reason.count;
  return sum;
}

std::uint64_t gone_in(const ImportPiece& piece) {
  return piece.created + piece.existed + piece.updated;
}

/// Whether trying again may help, while the import is to go on.
bool passes(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::outcome_unknown ||
         code == ErrorCode::out_of_memory;
}

class Importer {
 public:
  Importer(const Context& context, ImportRun run)
      : context_(context),
        run_(std::move(run)),
        admin_(context.connect()),
        progress_(context.is_quiet ? Progress::Show::nothing : Progress::Show::all, {}) {}

  int run() {
    try {
      if (run_.follows) {
        follow();
      } else {
        pass();
      }
    } catch (...) {  // What was moved before is moved.
      if (gone_in(sum_) > 0 || unknown_ > 0) print_counts();
      throw;
    }
    print_counts();
    return run_.follows || is_look() || left_in(sum_) == 0 ? 0 : kNothingChanged;
  }

 private:
  [[nodiscard]] bool is_look() const { return run_.request.mode == ImportMode::look; }

  void follow() {
    Milliseconds pause{0};
    while (!wait_for_stop(pause)) {
      const auto begun_at = std::chrono::steady_clock::now();
      try {
        if (!pass()) return;
        is_in_trouble_ = false;
      } catch (const Error& error) {
        if (!passes(error.code())) throw;
        say_trouble(error);
      }
      const auto took =
          std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - begun_at);
      pause = std::clamp(10 * took, kLookAgain, kLookAgainMost);
    }
  }

  /// Once through the sorted set; false if it was stopped.
  bool pass() {
    for (const Reason& reason : kReasons) sum_.*reason.count = 0;
    ImportRequest request = run_.request;
    std::uint64_t unknown = 0;  // One after the other.
    for (bool is_through = false; !is_through;) {
      if (run_.follows && wait_for_stop(Milliseconds{0})) return false;
      try {
        const ImportPiece piece = admin_.import_piece(run_.queue, request);
        add(piece);
        is_through = !piece.next;
        request.after = piece.next.value_or("");
        request.planned += piece.created;
        unknown = 0;
      } catch (const Error& error) {
        // It was moved or it was not: the next call finds what is still there.
        if (error.code() == ErrorCode::outcome_unknown) ++unknown_;
        if (error.code() != ErrorCode::outcome_unknown || ++unknown == kMostUnknown) throw;
      }
    }
    return true;
  }

  void add(const ImportPiece& piece) {
    sum_.created += piece.created;
    sum_.existed += piece.existed;
    sum_.updated += piece.updated;
    sum_.bytes += piece.bytes;
    sum_.remaining = piece.remaining;
    for (const Reason& reason : kReasons) sum_.*reason.count += piece.*reason.count;
    if (piece.earliest)
      sum_.earliest = std::min(*piece.earliest, sum_.earliest.value_or(*piece.earliest));
    if (piece.latest) sum_.latest = std::max(*piece.latest, sum_.latest.value_or(*piece.latest));
    if (gone_in(piece) > 0) progress_.update(gone_in(sum_), sum_.bytes);
  }

  void say_trouble(const Error& error) {
    if (!std::exchange(is_in_trouble_, true) && !context_.is_quiet) {
      progress_.clear();
      notice(std::string(core::printable(error.what())) + "; goes on when it can");
    }
  }

  void print_counts() {
    progress_.clear();
    if (context_.is_json) {
      print_counts_as_json();
    } else {
      print_counts_as_text();
    }
    flush_output();
    if (unknown_ > 0 && !context_.is_quiet) {
      notice("the link broke in " + std::to_string(unknown_) + " of the calls: of each up to " +
             std::to_string(Limits::piece) + " jobs may be moved that are not counted");
    }
  }

  void print_counts_as_text() {
    const std::uint64_t gone = gone_in(sum_);
    const std::string set = core::printable(run_.request.source.set);
    std::string text = (is_look() ? "would import " : "imported ") + std::to_string(gone) +
                       " jobs of " + set + " into " + run_.queue.text();
    if (gone > 0) {
      text += ": " + std::to_string(sum_.created) + " created, " + std::to_string(sum_.existed) +
              " existed, " + std::to_string(sum_.updated) + " updated; due " +
              core::format_time(*sum_.earliest) + " .. " + core::format_time(*sum_.latest);
    }
    print_line(text);
    for (const Reason& reason : kReasons) {
      if (sum_.*reason.count == 0) continue;
      print_line((is_look() ? "would leave " : "left ") + std::to_string(sum_.*reason.count) +
                 " there: " + std::string(reason.text));
    }
    if (gone == 0 && left_in(sum_) == 0 && !run_.follows && !context_.is_quiet) {
      notice("nothing to import: " + set + " is not there");
    }
  }

  void print_counts_as_json() const {
    const auto time = [](const std::optional<SystemTime>& at) {
      return at ? Json(to_ms(*at)) : Json(nullptr);
    };
    Json left = Json::object();
    for (const Reason& reason : kReasons) left[std::string(reason.name)] = sum_.*reason.count;
    print_json(Json{{"queue", run_.queue.text()},
                    {"is_dry_run", is_look()},
                    {"created", sum_.created},
                    {"existed", sum_.existed},
                    {"updated", sum_.updated},
                    {"left", left},
                    {"remaining", sum_.remaining},
                    {"earliest_due_at_ms", time(sum_.earliest)},
                    {"latest_due_at_ms", time(sum_.latest)},
                    {"unknown_calls", unknown_}});
  }

  const Context& context_;
  ImportRun run_;
  Admin admin_;
  Progress progress_;
  ImportPiece sum_{};  // What is left: of the last pass alone.
  std::uint64_t unknown_ = 0;
  bool is_in_trouble_ = false;
};

}  // namespace

int run_import(const Context& context, ImportRun run) {
  return Importer(context, std::move(run)).run();
}

}  // namespace duly::cli
