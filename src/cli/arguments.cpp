#include "src/cli/arguments.h"

#include <charconv>
#include <functional>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/duration.h"
#include "src/core/time_text.h"

namespace duly::cli {
namespace {

// More values than a command line can hold; see add_list.
constexpr int kAnyNumber = 1'000'000'000;

[[noreturn]] void refuse(const std::string& name, const std::string& text,
                         const std::string& expected) {
  throw Error(
      ErrorCode::invalid_argument,
      name + ": \"" + core::printable(core::cut_utf8(text, 60)) + "\", expected " + expected);
}

/// The last of "-q,--quiet": what messages call the option.
std::string spoken(const std::string& names) {
  const std::size_t comma = names.rfind(',');
  return comma == std::string::npos ? names : names.substr(comma + 1);
}

/// A finding of core::parse_..., with the option's name before it.
template <class Parse>
auto parsed(const std::string& name, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const Error& error) {
    throw Error(error.code(), name + ": " + error.what());
  }
}

CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& help,
                       const std::string& kind, std::function<void(const std::string&)> store) {
  return app.add_option_function<std::string>(names, store, help)->type_name(kind);
}

void add_queue_value(CLI::App& app, const std::string& name, const std::string& kind,
                     QueueName& target) {
  add_value(app, name, "1 .. 128 characters of A-Z a-z 0-9 . _ - :", kind,
            [&target](const std::string& text) {
              target = QueueName(text);
              core::require(core::check_queue(target));
            })
      ->required();
}

/// A list of places. CLI11 takes "[a,b]" apart where a list may go on for ever, so this one has a
/// length that is never reached.
CLI::Option* add_list(CLI::App& app, const std::string& name, const std::string& help,
                      std::function<void(const std::vector<std::string>&)> store) {
  return app.add_option_function<std::vector<std::string>>(name, store, help)
      ->expected(kAnyNumber)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("...");
}

}  // namespace

CLI::Option* add_text(CLI::App& app, const std::string& names, std::optional<std::string>& target,
                      const std::string& help) {
  return add_value(app, names, help, "TEXT", [&target](const std::string& text) { target = text; });
}

CLI::Option* add_number(CLI::App& app, const std::string& names,
                        std::optional<std::uint64_t>& target, Range range,
                        const std::string& help) {
  return add_value(app, names, help, "N", [&target, range, names](const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, number);
    if (text.empty() || problem != std::errc{} || rest != end || number < range.least ||
        number > range.most) {
      refuse(spoken(names), text,
             std::to_string(range.least) + " .. " + std::to_string(range.most));
    }
    target = number;
  });
}

CLI::Option* add_fraction(CLI::App& app, const std::string& names, std::optional<double>& target,
                          const std::string& help) {
  return add_value(app, names, help, "NUMBER", [&target, names](const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, problem] =
        std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (text.empty() || problem != std::errc{} || rest != end) {
      refuse(spoken(names), text, "a number such as 2 or 0.25");
    }
    target = number;
  });
}

CLI::Option* add_duration(CLI::App& app, const std::string& names,
                          std::optional<Milliseconds>& target, const std::string& help) {
  return add_value(app, names, help, "DURATION", [&target, names](const std::string& text) {
    target =
        parsed(spoken(names), text, [](const std::string& t) { return core::parse_duration(t); });
  });
}

CLI::Option* add_time(CLI::App& app, const std::string& names, std::optional<SystemTime>& target,
                      const std::string& help) {
  return add_value(app, names, help, "TIME", [&target, names](const std::string& text) {
    target = parsed(spoken(names), text, [](const std::string& t) { return core::parse_time(t); });
  });
}

void add_queue(CLI::App& app, QueueName& target) { add_queue_value(app, "QUEUE", "", target); }

void add_queue_option(CLI::App& app, QueueName& target) {
  add_queue_value(app, "--queue", "QUEUE", target);
}

void add_id(CLI::App& app, JobId& target) {
  add_value(app, "ID", "The job, as put or claim named it", "", [&target](const std::string& text) {
    target = JobId(text);
    core::require(core::check_id(target));
  })->required();
}

void add_token(CLI::App& app, LeaseToken& target) {
  add_value(app, "TOKEN", "The claim's token", "", [&target](const std::string& text) {
    target = LeaseToken(text);
    core::require(core::check_token(target));
  })->required();
}

CLI::Option* add_ids(CLI::App& app, std::vector<JobId>& target) {
  return add_list(app, "ID", "One or more jobs", [&target](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      target.emplace_back(text);
      core::require(core::check_id(target.back()));
    }
  });
}

CLI::Option* add_queues(CLI::App& app, std::vector<QueueName>& target, const std::string& help) {
  return add_list(app, "QUEUE", help, [&target](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      target.emplace_back(text);
      core::require(core::check_queue(target.back()));
    }
  });
}

}  // namespace duly::cli
