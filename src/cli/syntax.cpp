#include "src/cli/syntax.h"

namespace duly::cli {
namespace {

std::vector<std::string> words_of(const std::string& kind) {
  std::vector<std::string> words;
  if (kind.find('|') == std::string::npos) return words;
  std::size_t begin = 0;
  while (begin <= kind.size()) {
    const std::size_t end = std::min(kind.find('|', begin), kind.size());
    words.push_back(kind.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

OptionSyntax option_of(const CLI::Option& option) {
  OptionSyntax syntax{.help = option.get_description(), .environment = option.get_envname()};
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag) syntax.value = option.get_type_name();
  syntax.words = words_of(syntax.value);
  syntax.is_list = option.get_items_expected_max() > 1;
  syntax.is_required = option.get_required();
  for (const std::string& name : option.get_snames()) syntax.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) syntax.names.push_back("--" + name);
  if (option.get_positional() && syntax.names.empty()) {
    syntax.names.push_back(option.get_name(true));
  }
  return syntax;
}

CommandSyntax walk(const CLI::App& app, const std::string& path) {
  CommandSyntax syntax{.name = app.get_name(),
                       .path = path,
                       .help = app.get_description(),
                       .group = app.get_group(),
                       .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options({})) {
    if (option->get_group().empty()) continue;
    (option->nonpositional() ? syntax.options : syntax.places).push_back(option_of(*option));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;
    const std::string& name = command->get_name();
    syntax.commands.push_back(walk(*command, path.empty() ? name : path + " " + name));
  }
  return syntax;
}

void collect(const CommandSyntax& top, std::vector<const CommandSyntax*>& all) {
  all.push_back(&top);
  for (const CommandSyntax& command : top.commands) collect(command, all);
}

}  // namespace

CommandSyntax syntax_of(const CLI::App& app) { return walk(app, ""); }

std::vector<const CommandSyntax*> all_of(const CommandSyntax& top) {
  std::vector<const CommandSyntax*> all;
  collect(top, all);
  return all;
}

std::string short_help(const std::string& help) {
  std::string text = help.substr(0, help.find('\n'));
  for (std::size_t open = text.find('['); open != std::string::npos; open = text.find('[')) {
    const std::size_t close = text.find(']', open);
    if (close == std::string::npos) break;
    text.erase(open, close - open + 1);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace duly::cli
