#include <memory>

#include "duly/error.h"
#include "src/cli/commands.h"
#include "src/cli/completion.h"
#include "src/cli/help.h"
#include "src/cli/output.h"
#include "src/core/bytes.h"

namespace duly::cli {
namespace {

int print_completion(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") {
    print(bash_completion(syntax_of(app)));
  } else if (shell == "zsh") {
    print(zsh_completion(syntax_of(app)));
  } else {
    throw Error(
        ErrorCode::invalid_argument,
        "shell: \"" + core::printable(core::cut_utf8(shell, 60)) + "\", expected bash or zsh");
  }
  return 0;
}

}  // namespace

void add_self(CLI::App& app, Context& context) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* const completion =
      app.add_subcommand("completion", "Print a script that completes command lines");
  completion->group(kOperate);
  completion->add_option("SHELL", *shell, "bash or zsh")->required()->type_name("bash|zsh");
  add_examples(*completion,
               "  duly completion bash > ~/.local/share/bash-completion/completions/duly\n"
               "  duly completion zsh > ~/.zfunc/_duly\n");
  context.on(completion, [&app, shell] { return print_completion(app, *shell); });

  CLI::App* const manual = app.add_subcommand("man", "Print the manual page duly(1), in roff");
  manual->group(kOperate);
  add_examples(*manual, "  duly man | man -l -\n");
  context.on(manual, [&app] {
    print(manual_page(syntax_of(app)));
    return 0;
  });
}

}  // namespace duly::cli
