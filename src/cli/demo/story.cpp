#include "src/cli/demo/story.h"

#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace duly::cli::demo {
namespace {

constexpr int kMails = 500;
constexpr Milliseconds kMailStep{20};
constexpr int kReports = 12;

Scene scene(std::string id, std::string type, Milliseconds delay, std::string text) {
  NewJob job;
  job.id = JobId(std::move(id));
  job.type = std::move(type);
  job.delay = delay;
  return {.job = std::move(job), .text = std::move(text)};
}

Scene stubborn(Scene scene, std::uint32_t max_attempts) {
  scene.job.max_attempts = max_attempts;
  scene.job.backoff = {.kind = Backoff::Kind::fixed, .base = Milliseconds{500}, .jitter = 0.1};
  return scene;
}

}  // namespace

std::vector<Scene> scenes() {
  std::vector<Scene> all;
  all.push_back(scene("order-1042-unpaid", "unpaid", Milliseconds{2000},
                      "order 1042 is not paid: cancelled"));
  all.push_back(
      scene("order-1042-reminder", "reminder", Milliseconds{4000}, "order 1042: reminder sent"));
  all.push_back(
      scene("order-1042-review", "review", Milliseconds{7000}, "order 1042: review asked for"));
  all.push_back(stubborn(
      scene("partner-17", "flaky", Milliseconds{1000}, "partner 17 is told: works the third time"),
      5));
  all.push_back(
      stubborn(scene("partner-99", "hopeless", Milliseconds{1500}, "partner 99 never answers"), 3));
  for (int i = 0; i < kReports; ++i) {
    all.push_back(scene("report-" + std::to_string(i), "report", Milliseconds{4500}, ""));
  }
  for (int i = 0; i < kMails; ++i) {
    all.push_back(
        scene("mail-" + std::to_string(i), "mail", Milliseconds{500} + i * kMailStep, ""));
  }
  return all;
}

void play(const ActiveJob& job, const std::stop_token& stop) {
  if (job.type == "flaky" && job.attempt < 3) throw std::runtime_error("partner 17: no answer");
  if (job.type == "hopeless") throw std::runtime_error("partner 99: no answer");
  if (job.type == "report") {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, kReportTime, [] { return false; });
  }
}

}  // namespace duly::cli::demo
