#include "src/client/check_run.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace duly {
namespace {

// What is walked through, `held` after `jobs`: a record in no sorted set is suspect until the
// lists, all read after it, show it.
constexpr std::array<std::string_view, 7> kWalks{"leases", "jobs", "held", "due",
                                                 "dead",   "done", "tries"};
constexpr std::size_t kHeld = 2;
// A suspect that has moved meanwhile is looked for in the lists again; so often, then it is left:
// what moves is not lost.
constexpr int kMostRounds = 3;
constexpr std::size_t kRowsOfACall = 200;  // of one call, at most Limits::piece

class CheckRun : public std::enable_shared_from_this<CheckRun> {
 public:
  CheckRun(std::shared_ptr<Engine> engine, CheckRunOptions options, Done<CheckReport> done)
      : engine_(std::move(engine)), options_(std::move(options)), done_(std::move(done)) {
    report_.queue = options_.queue;
  }

  void walk() {
    ask({.part = kWalks[part_], .cursor = cursor_, .mode = mode()}, &CheckRun::on_walked);
  }

 private:
  using Step = void (CheckRun::*)(CheckPiece);

  // Later rounds read the lists for the suspects alone: damage in them is known already.
  [[nodiscard]] CheckMode mode() const { return round_ == 0 ? options_.mode : CheckMode::look; }

  void ask(CheckRequest request, Step then) {
    engine_->check(options_.queue, std::move(request), options_.deadline(),
                   [self = shared_from_this(), then](Result<CheckPiece> result) {
                     if (!result.ok()) return self->done_(result.error());
                     ((*self).*then)(std::move(result).value());
                   });
  }

  void go_on(void (CheckRun::*step)()) {
    if (!options_.pause) return ((*this).*step)();
    options_.pause([self = shared_from_this(), step] { ((*self).*step)(); });
  }

  void take(CheckPiece& piece) {
    report_.found += piece.findings.size();
    for (CheckReport::Finding& finding : piece.findings) {
      if (report_.findings.size() == CheckReport::kMostFindings) break;
      report_.findings.push_back(std::move(finding));
    }
  }

  void on_walked(CheckPiece piece) {
    if (round_ == 0) {
      report_.looked += piece.looked;
      take(piece);
    }
    for (std::size_t i = 0; i + 1 < piece.seen.size(); i += 2) {
      if (part_ == kHeld) {
        clear(piece.seen[i], piece.seen[i + 1]);
      } else {
        suspects_[piece.seen[i]] = piece.seen[i + 1];
      }
    }
    cursor_ = piece.cursor;
    if (cursor_ == "0") ++part_;
    if (part_ < kWalks.size() && (round_ == 0 || part_ == kHeld)) return go_on(&CheckRun::walk);
    holder_.clear();
    part_ = kHeld;
    go_on(&CheckRun::ask_twice);
  }

  // The ids of a lease's list stand in a place. One that another list had, too, may have moved
  // meanwhile.
  void clear(const std::string& token, const std::string& list) {
    std::istringstream ids(list);
    for (std::string id; ids >> id;) {
      suspects_.erase(id);
      const auto [holder, is_new] = holder_.try_emplace(id, token);
      if (!is_new && holder->second != token && round_ == 0) {
        twice_.insert(twice_.end(), {id, holder->second, token});
      }
    }
  }

  void ask_twice() {
    if (twice_.empty()) return ask_suspects();
    constexpr std::size_t kCells = 3;
    const auto last = twice_.begin() +
                      static_cast<std::ptrdiff_t>(std::min(twice_.size(), kRowsOfACall * kCells));
    std::vector<std::string> rows(twice_.begin(), last);
    twice_.erase(twice_.begin(), last);
    ask({.part = "twice", .mode = options_.mode, .rows = std::move(rows)}, &CheckRun::on_twice);
  }

  void on_twice(CheckPiece piece) {
    take(piece);
    go_on(&CheckRun::ask_twice);
  }

  void ask_suspects() {
    std::vector<std::string> rows;
    while (!suspects_.empty() && rows.size() < 2 * kRowsOfACall) {
      const auto suspect = suspects_.extract(suspects_.begin());
      rows.insert(rows.end(), {suspect.key(), suspect.mapped()});
    }
    if (!rows.empty()) {
      return ask({.part = "suspects", .mode = options_.mode, .rows = std::move(rows)},
                 &CheckRun::on_suspects);
    }
    if (moved_.empty() || ++round_ == kMostRounds) {
      return ask({.part = "totals", .mode = options_.mode}, &CheckRun::on_totals);
    }
    suspects_.swap(moved_);
    walk();
  }

  void on_suspects(CheckPiece piece) {
    take(piece);
    for (std::size_t i = 0; i + 1 < piece.seen.size(); i += 2) {
      moved_[piece.seen[i]] = piece.seen[i + 1];
    }
    go_on(&CheckRun::ask_suspects);
  }

  void on_totals(CheckPiece piece) {
    take(piece);
    done_(std::move(report_));
  }

  std::shared_ptr<Engine> engine_;
  CheckRunOptions options_;
  Done<CheckReport> done_;
  CheckReport report_;
  std::size_t part_ = 0;
  std::string cursor_ = "0";
  int round_ = 0;
  std::unordered_map<std::string, std::string> suspects_;  // id → version
  std::unordered_map<std::string, std::string> moved_;     // the same, for the next round
  std::unordered_map<std::string, std::string> holder_;    // id → token
  std::vector<std::string> twice_;                         // id, token, other token
};

}  // namespace

void run_check(std::shared_ptr<Engine> engine, CheckRunOptions options, Done<CheckReport> done) {
  std::make_shared<CheckRun>(std::move(engine), std::move(options), std::move(done))->walk();
}

}  // namespace duly
