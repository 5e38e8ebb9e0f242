#include <sstream>
#include <string>

#include "duly/version.h"
#include "src/cli/completion.h"

namespace duly::cli {
namespace {

/// Roff takes a backslash, a hyphen, and a dot or quote that begins a line for its own.
std::string roff(const std::string& text) {
  std::string safe;
  bool is_first = true;
  for (const char c : text) {
    if (is_first && (c == '.' || c == '\'')) safe += "\\&";
    is_first = c == '\n';
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else if (c == '\'') {
      safe += "\\(aq";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string option_text(const OptionSyntax& option) {
  std::string text = ".TP\n";
  for (const std::string& name : option.names) {
    text += (&name == &option.names.front() ? "" : ", ") + ("\\fB" + roff(name)) + "\\fR";
  }
  if (!option.value.empty()) text += " \\fI" + roff(option.value) + "\\fR";
  return text + "\n" + roff(option.help) + "\n";
}

std::string usage_of(const CommandSyntax& command) {
  std::string text = "\\fBduly " + roff(command.path) + "\\fR";
  for (const OptionSyntax& place : command.places) {
    const std::string word = "\\fI" + roff(place.names.front()) + "\\fR";
    text += " " + (place.is_required ? word : "[" + word + "]") + (place.is_list ? "..." : "");
  }
  if (!command.commands.empty()) text += " \\fICOMMAND\\fR";
  return text + " [\\fIoptions\\fR]\n";
}

/// Lines as they stand, their breaks kept.
std::string as_it_stands(const std::string& text) {
  std::istringstream lines(text);
  std::string page = ".PP\n.nf\n";
  for (std::string line; std::getline(lines, line);) {
    page += line.empty() ? ".sp\n" : roff(line) + "\n";
  }
  return page + ".fi\n";
}

/// What a command's help says below its options, without the word on where more stands.
std::string footer_of(const CommandSyntax& command) {
  std::string text = command.footer.substr(0, command.footer.rfind("\nMore options, "));
  text.erase(text.find_last_not_of('\n') + 1);
  return text.empty() ? "" : as_it_stands(text);
}

std::string command_text(const CommandSyntax& command) {
  std::string text = ".SS " + usage_of(command) + roff(command.help) + ".\n";
  for (const OptionSyntax& place : command.places) {
    if (!place.help.empty()) text += option_text(place);
  }
  for (const OptionSyntax& option : command.options) {
    if (option.names.back() != "--help") text += option_text(option);
  }
  return text + footer_of(command);
}

std::string environment_text(const CommandSyntax& duly) {
  std::string text = ".SH ENVIRONMENT\n";
  for (const CommandSyntax* command : all_of(duly)) {
    for (const OptionSyntax& option : command->options) {
      if (option.environment.empty()) continue;
      text += ".TP\n\\fB" + option.environment + "\\fR\nStands for \\fB" +
              roff(option.names.back()) + "\\fR where that is not given.\n";
    }
  }
  return text + ".TP\n\\fBNO_COLOR\\fR\nIf it is not empty, nothing is coloured.\n";
}

}  // namespace

std::string manual_page(const CommandSyntax& duly) {
  const std::string version(kVersion);
  std::string page = ".TH DULY 1 \"\" \"duly " + roff(version) + "\" \"User Commands\"\n" +
                     ".SH NAME\nduly \\- delayed jobs on Redis\n" +
                     ".SH SYNOPSIS\n\\fBduly\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n" +
                     ".SH DESCRIPTION\n" + roff(duly.help) + "\n" + ".SH OPTIONS\n" +
                     "They may stand before or after the command.\n";
  for (const OptionSyntax& option : duly.options) page += option_text(option);
  page += ".SH COMMANDS\n";
  for (const CommandSyntax* command : all_of(duly)) {
    if (!command->path.empty()) page += command_text(*command);
  }
  return page + ".SH NOTES\n" + as_it_stands(duly.footer) + environment_text(duly);
}

}  // namespace duly::cli
