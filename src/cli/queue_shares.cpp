#include "src/cli/queue_shares.h"

#include <algorithm>
#include <charconv>

#include "src/core/bytes.h"

namespace duly::cli {
namespace {

/// "mail=3"; a queue's name may hold ':' but no '='.
std::pair<QueueName, std::uint32_t> parse(const std::string& option, const std::string& text) {
  const std::size_t at = text.find('=');
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const char* const begin = at == std::string::npos ? end : text.data() + at + 1;
  const auto [rest, problem] = std::from_chars(begin, end, number);
  if (at == 0 || begin == end || problem != std::errc{} || rest != end) {
    throw Error(ErrorCode::invalid_argument, option + ": \"" +
                                                 core::printable(core::cut_utf8(text, 60)) +
                                                 "\", expected QUEUE=N such as mail=3");
  }
  return {QueueName(text.substr(0, at)), number};
}

CLI::Option* add_pairs(CLI::App& command, const std::string& option,
                       std::vector<std::pair<QueueName, std::uint32_t>>& target,
                       const std::string& help) {
  return command
      .add_option_function<std::vector<std::string>>(
          option,
          [option, &target](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) target.push_back(parse(option, text));
          },
          help)
      ->type_name("QUEUE=N")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void QueueShares::add_to(CLI::App& command) {
  CLI::Option* const weight = add_pairs(command, "--weight", weights_,
                                        "Its share while other queues have due jobs, too [1]");
  command
      .add_flag("--strict", is_strict_,
                "Queues as listed: one gets nothing while one before it has due jobs")
      ->excludes(weight);
  add_pairs(command, "--reserve", reserved_, "So many of --concurrency are held back for it [0]");
}

std::vector<WorkerQueue> QueueShares::of(const std::vector<QueueName>& queues) const {
  std::vector<WorkerQueue> all(queues.begin(), queues.end());
  const auto share_of = [&all](const std::string& option, const QueueName& name) -> QueueShare& {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const WorkerQueue& queue) { return queue.name == name; });
    if (found == all.end()) {
      throw Error(ErrorCode::invalid_argument, option + ": queue \"" +
                                                   core::printable(name.text()) +
                                                   "\", expected one of those to work on");
    }
    return found->share;
  };
  for (const auto& [name, number] : weights_) share_of("--weight", name).weight = number;
  for (const auto& [name, number] : reserved_) share_of("--reserve", name).reserved = number;
  return all;
}

}  // namespace duly::cli
