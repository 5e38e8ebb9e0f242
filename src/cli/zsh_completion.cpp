#include <algorithm>
#include <string>

#include "src/cli/completion.h"

namespace duly::cli {
namespace {

/// For _arguments, inside single quotes: brackets and colons part its fields.
std::string quoted(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += R"('\'')";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string action_of(const OptionSyntax& option) {
  if (!option.words.empty()) {
    std::string words;
    for (const std::string& word : option.words) words += (words.empty() ? "" : " ") + word;
    return "(" + words + ")";
  }
  if (option.value == "FILE" || option.value == "BIN") return "_files";
  if (option.value == "DIR") return "_files -/";
  if (option.names.front() == "FILE") return "_files";
  if (option.names.front() == "QUEUE" || option.value == "QUEUE") return "_duly_queues";
  return "_duly_any";
}

std::string specs_of(const CommandSyntax& command, const std::string& indent) {
  std::string text;
  for (const OptionSyntax& option : command.options) {
    for (const std::string& name : option.names) {
      const bool is_long = name.starts_with("--");
      text += indent + "'" + name + (option.value.empty() || !is_long ? "" : "=") + "[" +
              quoted(short_help(option.help)) + "]";
      if (!option.value.empty()) {
        const std::string what = option.words.empty() ? option.value : "value";
        text += ":" + quoted(what) + ":" + action_of(option);
      }
      text += "'\n";
    }
  }
  for (const OptionSyntax& place : command.places) {
    text += indent + "'" + (place.is_list ? "*" : "") + ":" + quoted(place.names.front()) + ":" +
            action_of(place) + "'\n";
  }
  return text;
}

std::string function_name(const CommandSyntax& command) {
  std::string name = "_duly" + (command.path.empty() ? "" : "_command_" + command.path);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string function_of(const CommandSyntax& command) {
  std::string text = function_name(command) + "() {\n";
  if (command.commands.empty()) {
    return text + "  local -a specs=(\n" + specs_of(command, "    ") +
           "  )\n  _arguments -s -S $_duly_globals $specs\n}\n\n";
  }
  text +=
      "  local context state line\n"
      "  typeset -A opt_args\n"
      "  _arguments -C -S $_duly_globals '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands=(\n";
  for (const CommandSyntax& sub : command.commands) {
    text += "        '" + sub.name + ":" + quoted(short_help(sub.help)) + "'\n";
  }
  text +=
      "      )\n"
      "      _describe -t commands command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n";
  for (const CommandSyntax& sub : command.commands) {
    text += "        " + sub.name + ") " + function_name(sub) + " ;;\n";
  }
  return text + "      esac ;;\n  esac\n}\n\n";
}

constexpr auto kQueues = R"zsh(_duly_queues() {
  # Without DULY_REDIS the question would start a private Redis.
  [[ -n $DULY_REDIS ]] || return 1
  local -a queues=(${(f)"$(duly --quiet --timeout 500ms queues 2>/dev/null)"})
  compadd -a queues
}

# Nothing to offer; options still are.
_duly_any() {
  return 1
}

)zsh";

}  // namespace

std::string zsh_completion(const CommandSyntax& duly) {
  std::string text =
      "#compdef duly\n"
      "# Completion of duly for zsh. Made by `duly completion zsh`.\n\n"
      "typeset -ga _duly_globals=(\n" +
      specs_of(duly, "  ") + ")\n\n" + kQueues;
  for (const CommandSyntax* command : all_of(duly)) text += function_of(*command);
  // Called by its file's name when autoloaded, sourced otherwise.
  return text +
         "if [[ $funcstack[1] == _duly ]]; then\n"
         "  _duly \"$@\"\n"
         "else\n"
         "  compdef _duly duly\n"
         "fi\n";
}

}  // namespace duly::cli
