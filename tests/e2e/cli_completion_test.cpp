#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/e2e/cli_fixture.h"

namespace duly::testing {
namespace {

class CliCompletion : public CliTest {
 protected:
  /// What a bash offers for the last of the words; `before` is run first.
  static std::vector<std::string> bash(const std::vector<std::string>& words,
                                       const std::string& before = "unset DULY_REDIS") {
    std::string line = before + "; source <(\"$0\" completion bash); COMP_WORDS=(duly";
    for (const std::string& word : words) line += " '" + word + "'";
    line += "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _duly; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const ProgramEnd end =
        run_program({"bash", "--norc", "-c", line, binary()},
                    {.environment = {{"PATH", DULY_BINARY_DIR ":/usr/bin:/bin"}}});
    EXPECT_EQ(end.err, "");
    return words_of(end.out);
  }

  static std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
  }

  static bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  using Words = std::vector<std::string>;
};

TEST_F(CliCompletion, BashCompletesCommandsAlsoBehindOptions) {
  EXPECT_EQ(bash({"resc"}), Words{"reschedule"});
  EXPECT_EQ(bash({"--json", "--timeout", "5s", "resc"}), Words{"reschedule"});
  EXPECT_EQ(bash({"dead", ""}), (Words{"ls", "replay", "purge"}));
  EXPECT_FALSE(has(bash({""}), "bench-holder"));
}

TEST_F(CliCompletion, BashCompletesTheOptionsOfTheCommandAndThoseOfAll) {
  EXPECT_EQ(bash({"put", "mail", "--back"}),
            (Words{"--backoff", "--backoff-base", "--backoff-cap", "--backoff-factor"}));
  EXPECT_TRUE(has(bash({"dead", "purge", "--"}), "--yes"));
  EXPECT_TRUE(has(bash({"put", "--"}), "--redis"));
  EXPECT_FALSE(has(bash({"ls", "--"}), "--backoff"));
}

TEST_F(CliCompletion, BashCompletesValuesThatAreGivenWords) {
  EXPECT_EQ(bash({"ls", "mail", "--state", ""}),
            (Words{"scheduled", "ready", "active", "dead", "done"}));
  EXPECT_EQ(bash({"ls", "mail", "--state", "=", "s"}), Words{"scheduled"});
  EXPECT_EQ(bash({"put", "mail", "--backoff", "f"}), Words{"fixed"});
  EXPECT_EQ(bash({"put", "--log", ""}), (Words{"text", "json"}));
  EXPECT_EQ(bash({"completion", "z"}), Words{"zsh"});
}

TEST_F(CliCompletion, BashCompletesQueuesWhereAServerIsNamed) {
  put({"mail", "x"});
  put({"sms", "x"});

  EXPECT_EQ(bash({"stats", "m"}, "export DULY_REDIS=" + redis_.url()), Words{"mail"});
  EXPECT_EQ(bash({"work", "mail", "s"}, "export DULY_REDIS=" + redis_.url()), Words{"sms"});
  EXPECT_EQ(bash({"stats", ""}, "export DULY_REDIS=redis://127.0.0.1:1"), Words{});
  EXPECT_EQ(bash({"stats", ""}), Words{});
}

/// A zsh on a terminal of its own (its zpty) is given each line and a tab; `duly` then prints what
/// has become of it.
TEST_F(CliCompletion, ZshCompletesCommandsOptionsAndValues) {
  const std::string script = R"zsh(
    zmodload zsh/zpty
    zpty shell "zsh -f -i"
    zpty -w shell "PS1= PATH=$1:\$PATH; stty -echo; autoload -Uz compinit; compinit -D -u"
    zpty -w shell "source <(duly completion zsh); bindkey '^I' complete-word"
    zpty -w shell "duly() { print -r -- \"GO\"\"T[\$*]\" }"
    for typed in "${@:2}"; do
      zpty -w -n shell "$typed"$'\t\n'
      while zpty -r shell text; do
        if [[ $text == *'GOT['*']'* ]]; then print -r -- "${${text##*GOT\[}%%\]*}"; break; fi
      done
    done
    zpty -d shell
  )zsh";

  const ProgramEnd end =
      run_program({"timeout", "30", "zsh", "-f", "-c", script, "zsh", DULY_BINARY_DIR, "duly resc",
                   "duly dead rep", "duly put mail --attempt-t", "duly ls mail --state sch"},
                  {.environment = {{"DULY_REDIS", ""}, {"TERM", "dumb"}}});

  EXPECT_EQ(end.out,
            "reschedule\ndead replay\nput mail --attempt-timeout\nls mail --state scheduled\n")
      << end.err;
}

TEST_F(CliCompletion, AnotherShellIsRefused) {
  const ProgramEnd end = run_program({binary(), "completion", "fish"});

  EXPECT_EQ(end.status, 2);
  EXPECT_EQ(end.err, "duly: shell: \"fish\", expected bash or zsh\n");
}

TEST_F(CliCompletion, TheManualPageRendersWithoutAWarningAndTellsOfEveryCommandAndOption) {
  const ProgramEnd page =
      run_program({"sh", "-c", "\"$0\" man | groff -man -ww -Tascii -P-cbou -rLL=200n", binary()});

  EXPECT_EQ(page.status, 0);
  EXPECT_EQ(page.err, "");
  for (const std::string path : {"put", "work", "ls", "dead", "doctor", "completion", "man"}) {
    EXPECT_NE(page.out.find("   duly " + path + " "), std::string::npos) << path;
    const ProgramEnd help = run_program({binary(), path, "--help"});
    for (const std::string& word : words_of(help.out)) {
      if (!word.starts_with("--")) continue;
      const std::string option =
          word.substr(0, word.find_first_not_of("-abcdefghijklmnopqrstuvwxyz"));
      EXPECT_NE(page.out.find(option), std::string::npos) << path << " " << option;
    }
  }
  EXPECT_NE(page.out.find("duly dead purge QUEUE"), std::string::npos);
  EXPECT_NE(page.out.find("DULY_REDIS"), std::string::npos);
  EXPECT_EQ(page.out.find("bench-holder"), std::string::npos);
}

}  // namespace
}  // namespace duly::testing
