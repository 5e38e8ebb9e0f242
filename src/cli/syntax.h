#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace duly::cli {

/// An option or a place of a command, in words: for completion and the manual page.
struct OptionSyntax {
  std::vector<std::string> names{};  ///< "-q", "--quiet"; of a place its one name, "QUEUE".
  std::string value{};               ///< Of what kind: "DURATION"; empty for a flag.
  std::vector<std::string> words{};  ///< All values there are, if the kind says "a|b|c".
  std::string help{};
  std::string environment{};  ///< The variable that stands for it, if there is one.
  bool is_list = false;
  bool is_required = false;
};

/// A command with all that may stand behind it, as the options themselves say it.
struct CommandSyntax {
  std::string name{};  ///< "put"; of the whole program "duly".
  std::string path{};  ///< As typed behind duly: "", "put", "dead ls".
  std::string help{};
  std::string group{};
  std::string footer{};
  std::vector<OptionSyntax> options{};
  std::vector<OptionSyntax> places{};
  std::vector<CommandSyntax> commands{};
};

/// Walks the tree of commands; hidden ones are left out.
CommandSyntax syntax_of(const CLI::App& app);

/// It and all below it, from the top down.
std::vector<const CommandSyntax*> all_of(const CommandSyntax& top);

/// The first line, without what stands in brackets: fit for one line of a menu.
std::string short_help(const std::string& help);

}  // namespace duly::cli
