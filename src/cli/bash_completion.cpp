#include <string>

#include "src/cli/completion.h"

namespace duly::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// What stands for a value: the words there are, or a kind that the script knows.
std::string values_of(const OptionSyntax& option) {
  if (!option.words.empty()) return "words " + joined(option.words);
  if (option.value == "FILE" || option.value == "BIN") return "files";
  if (option.value == "DIR") return "folders";
  if (option.names.front() == "FILE") return "files";
  if (option.names.front() == "QUEUE" || option.value == "QUEUE") return "queues";
  return "any";
}

std::string case_of(const CommandSyntax& command, const std::string& text) {
  return "    '" + command.path + "') echo '" + text + "' ;;\n";
}

std::string commands_function(const CommandSyntax& duly) {
  std::string text = "_duly_commands() {\n  case $1 in\n";
  for (const CommandSyntax* command : all_of(duly)) {
    std::vector<std::string> names;
    for (const CommandSyntax& sub : command->commands) names.push_back(sub.name);
    if (!names.empty()) text += case_of(*command, joined(names));
  }
  return text + "  esac\n}\n";
}

std::string options_function(const CommandSyntax& duly) {
  std::string text = "_duly_options() {\n  case $1 in\n";
  for (const CommandSyntax* command : all_of(duly)) {
    std::vector<std::string> names;
    for (const OptionSyntax& option : command->options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    text += case_of(*command, joined(names));
  }
  return text + "  esac\n}\n";
}

/// Prints the values of an option that takes one; nothing for a flag.
std::string values_function(const CommandSyntax& duly) {
  std::string text = "_duly_values() {\n  case \"$1:$2\" in\n";
  for (const CommandSyntax* command : all_of(duly)) {
    for (const OptionSyntax& option : command->options) {
      if (option.value.empty()) continue;
      // Those of all commands hold wherever they stand.
      const std::string path = command->path.empty() ? "*" : "'" + command->path + "'";
      for (const std::string& name : option.names) {
        text += "    " + path + ":" + name + ") echo '" + values_of(option) + "' ;;\n";
      }
    }
  }
  return text + "  esac\n}\n";
}

/// Prints the values of the N-th place of a command.
std::string places_function(const CommandSyntax& duly) {
  std::string text = "_duly_places() {\n  case \"$1:$2\" in\n";
  for (const CommandSyntax* command : all_of(duly)) {
    int number = 1;
    for (const OptionSyntax& place : command->places) {
      text += "    '" + command->path + "':" + (place.is_list ? "*" : std::to_string(number)) +
              ") echo '" + values_of(place) + "' ;;\n";
      ++number;
    }
  }
  return text + "  esac\n}\n";
}

constexpr auto kRest = R"bash(
_duly_reply() {
  local IFS=$' \t\n'
  case $1 in
    words*) COMPREPLY=($(compgen -W "${1#words}" -- "$cur")) ;;
    files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
    queues)
      # Without DULY_REDIS the question would start a private Redis.
      [[ -n ${DULY_REDIS-} ]] &&
        COMPREPLY=($(compgen -W "$(duly --quiet --timeout 500ms queues 2>/dev/null)" -- "$cur")) ;;
  esac
}

_duly() {
  local cur=${COMP_WORDS[COMP_CWORD]} path= place=0 option= word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == = ]]; then
      continue
    elif [[ -n $option ]]; then
      option=
    elif [[ $word == -* ]]; then
      [[ -n $(_duly_values "$path" "$word") ]] && option=$word
    elif [[ " $(_duly_commands "$path") " == *" $word "* ]]; then
      path=${path:+$path }$word
    else
      place=$((place + 1))
    fi
  done
  if [[ -n $option ]]; then
    [[ $cur == = ]] && cur=
    _duly_reply "$(_duly_values "$path" "$option")"
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$(_duly_options "$path") $(_duly_options '')" -- "$cur"))
  elif [[ -n $(_duly_commands "$path") ]]; then
    COMPREPLY=($(compgen -W "$(_duly_commands "$path")" -- "$cur"))
  else
    _duly_reply "$(_duly_places "$path" $((place + 1)))"
  fi
}
complete -o bashdefault -F _duly duly
)bash";

}  // namespace

std::string bash_completion(const CommandSyntax& duly) {
  return "# Completion of duly for bash. Made by `duly completion bash`.\n" +
         commands_function(duly) + options_function(duly) + values_function(duly) +
         places_function(duly) + kRest;
}

}  // namespace duly::cli
