#include "src/cli/demo/worker.h"

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <sstream>

#include "duly/worker.h"
#include "src/cli/demo/story.h"

namespace duly::cli::demo {
namespace {

constexpr auto kCommand = "demo-worker";
// More than the long jobs, which one worker may have to run alone: the others need not wait for
// them.
constexpr std::size_t kConcurrency = 16;

// Lines are far shorter than what a pipe takes in one piece, so they never mix.
void tell(const std::string& line) {
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) ::_exit(1);
}

int work(const std::string& url, const std::string& name) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  tell("hello\n");  // Ends here if the demo has ended before the line above.
  const auto line = [&name](const char* kind, const ActiveJob& job, const std::string& rest) {
    tell(std::string(kind) + ' ' + name + ' ' + job.id.text() + ' ' + std::to_string(job.attempt) +
         ' ' + rest + '\n');
  };
  WorkerOptions options{.queues = {kQueue}, .concurrency = kConcurrency, .lease = kLease};
  options.on_finished = [&line](const WorkerOptions::Report& report) {
    line("end", report.job,
         std::string(to_string(report.outcome)) + ' ' + std::to_string(report.lateness.count()));
  };
  Worker worker(Connection(ConnectionOptions{.redis = url, .client_name = "demo-" + name}),
                options);
  worker.handle("", [&line](Attempt& attempt) {
    const std::chrono::nanoseconds late = attempt.job().claimed_at - attempt.job().due_at;
    line("start", attempt.job(), "- " + std::to_string(late.count()));
    play(attempt.job(), attempt.stop_token());
  });
  worker.run_until_signal();
  return 0;
}

}  // namespace

WorkerProcess::WorkerProcess(std::string name, const std::string& url,
                             std::function<void(const Line&)> on_line)
    : name_(std::move(name)) {
  std::array<std::string, 4> words{"duly", kCommand, url, name_};
  std::array<char*, 5> argv{words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                            nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe_.write_end.number(), STDOUT_FILENO);
  const int failure =
      ::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) refuse_by_errno("demo worker", failure);
  pipe_.write_end.close();
  reader_ = std::thread([this, on_line = std::move(on_line)] { read(on_line); });
}

WorkerProcess::~WorkerProcess() { kill(); }

void WorkerProcess::kill() { end(SIGKILL); }

void WorkerProcess::stop() { end(SIGTERM); }

void WorkerProcess::end(int signal) {
  if (pid_ <= 0) return;
  ::kill(pid_, signal);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  reader_.join();
}

void WorkerProcess::read(const std::function<void(const Line&)>& on_line) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t size = ::read(pipe_.read_end.number(), buffer.data(), buffer.size());
    if (size <= 0) return;
    text.append(buffer.data(), static_cast<std::size_t>(size));
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      std::istringstream words(text.substr(0, end));
      text.erase(0, end + 1);
      Line line;
      std::string kind;
      std::int64_t lateness_ns = 0;
      words >> kind >> line.worker >> line.id >> line.attempt >> line.outcome >> lateness_ns;
      if (kind == "hello") continue;
      line.is_end = kind == "end";
      line.lateness = std::chrono::nanoseconds{lateness_ns};
      on_line(line);
    }
  }
}

void add_worker(CLI::App& app, Context& context) {
  struct GivenDemoWorker {
    std::string url;
    std::string name;
  };
  const auto given = std::make_shared<GivenDemoWorker>();
  CLI::App* const command = app.add_subcommand(kCommand, "A worker of the demo");
  command->group("");
  command->add_option("url", given->url)->required();
  command->add_option("name", given->name)->required();
  context.on(command, [given] { return work(given->url, given->name); });
}

}  // namespace duly::cli::demo
