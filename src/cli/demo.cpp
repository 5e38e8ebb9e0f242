#include <stdlib.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "duly/admin.h"
#include "duly/client.h"
#include "duly/error.h"
#include "src/cli/commands.h"
#include "src/cli/demo/story.h"
#include "src/cli/demo/tally.h"
#include "src/cli/demo/worker.h"
#include "src/cli/help.h"
#include "src/cli/output.h"
#include "src/cli/stop_signals.h"
#include "src/cli/table.h"
#include "src/cli/temporary_folder.h"
#include "src/embedded/embedded.h"

namespace duly::cli {
namespace {

using demo::Figure;
using demo::Line;
using demo::Scene;
using demo::Tally;
using demo::WorkerProcess;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kKillAfter{5};
constexpr std::chrono::seconds kLimit{28};
constexpr std::chrono::seconds kProgressStep{2};

/// Says what happens, with the time since the jobs were put.
class Teller {
 public:
  Teller(bool is_quiet, const std::vector<Scene>& scenes) : is_quiet_(is_quiet) {
    for (const Scene& scene : scenes) text_of_[scene.job.id->text()] = scene.text;
  }

  void begin() { begun_at_ = steady_clock::now(); }

  void say(const std::string& what, Colour colour = Colour::plain) {
    if (is_quiet_) return;
    std::array<char, 24> time{};
    const std::chrono::duration<double> passed = steady_clock::now() - begun_at_;
    std::snprintf(time.data(), time.size(), "%+8.3f s", passed.count());
    const std::lock_guard lock(mutex_);
    print_line(in_colour(Colour::dim, time.data()) + "  " + in_colour(colour, what));
    flush_output();
  }

  /// Ends of the jobs that have a text; the many others only count.
  void tell(const Line& line) {
    const auto found = text_of_.find(line.id);
    if (!line.is_end || found == text_of_.end() || found->second.empty()) return;
    std::array<char, 32> late{};
    std::snprintf(late.data(), late.size(), "%.1f ms late",
                  std::chrono::duration<double, std::milli>(line.lateness).count());
    const std::string where = std::string(", ") + late.data() + ", worker " + line.worker;
    if (line.outcome == "acked") {
      say(found->second + where, Colour::green);
    } else {
      say(line.id + ": attempt " + std::to_string(line.attempt) + " " + line.outcome + where,
          line.outcome == "dead" ? Colour::red : Colour::yellow);
    }
  }

 private:
  bool is_quiet_;
  std::map<std::string, std::string> text_of_;
  steady_clock::time_point begun_at_ = steady_clock::now();
  std::mutex mutex_;
};

bool is_over(const QueueStats& stats) { return stats.scheduled + stats.ready + stats.active == 0; }

/// Ends the worker that holds most jobs, if one holds any; whether it did.
bool kill_one(std::array<WorkerProcess, 2>& workers, Tally& tally, Teller& teller) {
  const auto held_by = [&tally](const WorkerProcess& worker) {
    return tally.held_by(worker.name()).size();
  };
  WorkerProcess& victim = held_by(workers[0]) >= held_by(workers[1]) ? workers[0] : workers[1];
  if (held_by(victim) == 0) return false;
  victim.kill();
  const auto held = tally.held_by(victim.name());  // It may have ended some until then.
  tally.set_held_at_kill(held);
  teller.say("worker " + victim.name() + " is killed (SIGKILL) while it runs " +
                 std::to_string(held.size()) + " jobs; their leases end within 2 s",
             Colour::red);
  return true;
}

/// Waits for the end, and kills a worker on the way. False: interrupted.
bool watch(Admin& admin, Tally& tally, Teller& teller, std::array<WorkerProcess, 2>& workers,
           std::size_t jobs) {
  const auto begun_at = steady_clock::now();
  auto progress_at = begun_at + kProgressStep;
  bool is_killed = false;
  while (true) {
    if (wait_for_stop(Milliseconds{20})) return false;
    const auto now = steady_clock::now();
    if (!is_killed && now - begun_at >= kKillAfter) is_killed = kill_one(workers, tally, teller);
    if (now >= progress_at) {
      progress_at += kProgressStep;
      teller.say(std::to_string(tally.ended()) + " attempts of " + std::to_string(jobs) +
                     " jobs have ended",
                 Colour::dim);
    }
    if (now - begun_at < demo::kLastDue) continue;
    if (is_over(admin.stats(demo::kQueue)) || now - begun_at > kLimit) return true;
  }
}

void show(const std::vector<Figure>& figures, bool is_json, bool is_well) {
  if (is_json) {
    Json object;
    for (const Figure& figure : figures) object[figure.key] = figure.value;
    object["ok"] = is_well;
    return print_json(object);
  }
  Table table({{"figure"}, {"found", Table::Side::right}, {"expected"}, {""}});
  for (const Figure& figure : figures) {
    table.add({{figure.name, Colour::bold},
               {figure.text},
               {figure.expected},
               figure.is_met ? Cell{"ok", Colour::green} : Cell{"NOT MET", Colour::red}});
  }
  print_line("");
  print(table.take_text());
  print_line(
      "Lateness is start minus due on Redis's clock. Recovered jobs count apart: nobody could have "
      "them");
  print_line("before the lease of the killed worker had ended.");
  print_line(is_well ? in_colour(Colour::green, "All of it holds.")
                     : in_colour(Colour::red, "Not all of it holds: see above."));
}

int run(const Context& context) {
  const std::vector<Scene> scenes = demo::scenes();
  Teller teller(context.is_json || context.is_quiet, scenes);
  const TemporaryFolder folder("demo");
  teller.say("a private Redis starts in " + folder.path().string());
  const EmbeddedRedis redis(folder.path(), {});
  const Connection connection(ConnectionOptions{.redis = redis.url(), .client_name = "demo"});
  Client client(connection);
  Admin admin(connection);
  Tally tally;
  const auto on_line = [&](const Line& line) {
    tally.add(line);
    teller.tell(line);
  };
  std::array<WorkerProcess, 2> workers{WorkerProcess("A", redis.url(), on_line),
                                       WorkerProcess("B", redis.url(), on_line)};
  teller.say("two worker processes: A (pid " + std::to_string(workers[0].pid()) + ") and B (pid " +
             std::to_string(workers[1].pid()) + ")");

  std::vector<NewJob> jobs;
  for (const Scene& scene : scenes) jobs.push_back(scene.job);
  teller.begin();
  for (const PutResult& result : client.put(demo::kQueue, jobs)) {
    if (result.error) throw Error(*result.error);
  }
  teller.say(std::to_string(jobs.size()) + " jobs are put, due over the next 10.5 s");
  if (!watch(admin, tally, teller, workers, jobs.size())) {
    teller.say("interrupted: nothing has been shown", Colour::yellow);
    return 1;
  }
  for (WorkerProcess& worker : workers) worker.stop();

  const auto figures = tally.figures(jobs, admin.stats(demo::kQueue));
  bool is_well = true;
  for (const Figure& figure : figures) is_well = is_well && figure.is_met;
  show(figures, context.is_json, is_well);
  return is_well ? 0 : 1;
}

}  // namespace

void add_demo(CLI::App& app, Context& context) {
  demo::add_worker(app, context);
  CLI::App* const command =
      app.add_subcommand("demo", "Shows the main job on a private Redis, and checks that it holds");
  command->group(kLook);
  add_examples(
      *command,
      "  duly demo\n"
      "  duly demo --json\n"
      "\nTakes about 12 s, on a Redis of its own in a temporary folder, whatever --redis says.\n"
      "Exit status 0 if every figure is as expected, else 1.\n");
  context.on(command, [&context] { return run(context); });
  command->parse_complete_callback([&context] { context.takes_signals = true; });
}

}  // namespace duly::cli
