// What `deputy completions` and `deputy manual` print, read by those they are for.
#include <gmock/gmock.h>

#include <cstdio>

#include "app/places.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string output_of(const std::string& line) {
  std::string out;
  FILE* pipe = ::popen(line.c_str(), "r");
  if (!pipe) return "cannot run it";
  char bytes[4096];
  while (const std::size_t count = ::fread(bytes, 1, sizeof bytes, pipe)) out.append(bytes, count);
  ::pclose(pipe);
  return out;
}

class CompletionsTest : public DeputyTest {
 protected:
  std::string file_for(const std::string& shell) {
    const auto ran = deputy({"completions", shell});
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto file = root() / ("deputy." + shell);
    write(file, ran.out);
    return shell_quoted(file.string());
  }
  // What bash offers where the last word is being typed.
  std::string offered_by_bash(const std::string& words, int at) {
    const std::string script = "source " + file_for("bash") + "; COMP_WORDS=(" + words +
                               "); COMP_CWORD=" + std::to_string(at) + "; _deputy; echo \"${COMPREPLY[@]}\"";
    return output_of("bash --norc -c " + shell_quoted(script) + " 2>&1");
  }
};

TEST_F(CompletionsTest, BashCompletesCommandsBelowCommandsAndOptions) {
  EXPECT_EQ(offered_by_bash("deputy se", 1), "sessions\n");
  EXPECT_EQ(offered_by_bash("deputy sessions tr", 2), "tree transcript\n");
  EXPECT_EQ(offered_by_bash("deputy delegate --ta", 2), "--task\n");
  EXPECT_EQ(offered_by_bash("deputy --max-dep", 1), "--max-depth\n");
}

TEST_F(CompletionsTest, BashTakesNoValueForACommand) {
  EXPECT_EQ(offered_by_bash("deputy --model sessions l", 3), "\n");
  EXPECT_EQ(offered_by_bash("deputy --model x sessions l", 4), "ls\n");
}

TEST_F(CompletionsTest, BashCompletesFilesWhereFilesAreMeant) {
  write(work() / "settings.toml", "");
  EXPECT_EQ(offered_by_bash("deputy --config " + (work() / "set").string(), 2),
            (work() / "settings.toml").string() + "\n");
}

TEST_F(CompletionsTest, BashOffersTheValuesThatThereAre) {
  EXPECT_EQ(offered_by_bash("deputy --output ''", 2), "text json stream-json\n");
  EXPECT_EQ(offered_by_bash("deputy delegate --return m", 3), "markdown\n");
  EXPECT_EQ(offered_by_bash("deputy agents init s", 3), "security\n");
  EXPECT_EQ(offered_by_bash("deputy completions z", 2), "zsh\n");
}

TEST_F(CompletionsTest, AnUnknownShellIsRefused) {
  const auto ran = deputy({"completions", "tcsh"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("it must be bash or zsh or fish"));
}

TEST_F(CompletionsTest, ZshAndFishReadTheirs) {
  EXPECT_EQ(output_of("zsh -fn " + file_for("zsh") + " 2>&1"), "");
  EXPECT_EQ(output_of("fish -N -n " + file_for("fish") + " 2>&1"), "");
  const std::string ask = "source " + file_for("fish") + "; complete -C 'deputy sessions tr'";
  EXPECT_THAT(output_of("HOME=" + shell_quoted((root() / "person").string()) + " fish -N -c " +
                        shell_quoted(ask) + " 2>&1"),
              AllOf(HasSubstr("tree\t"), HasSubstr("transcript\t"), Not(HasSubstr("ls\t"))));
  EXPECT_THAT(deputy({"completions", "fish"}).out, HasSubstr("-l color -x -a 'auto always never'"));
  EXPECT_THAT(deputy({"completions", "zsh"}).out,
              HasSubstr("--color) compadd -- auto always never; return ;;"));
}

TEST_F(CompletionsTest, ZshOffersWhatFitsWhereItStands) {
  // What zsh's own functions would be told, in a shell that completes nothing.
  const auto offered = [this](const std::string& words, int at) {
    const std::string line = "source " + file_for("zsh") +
                             "; _describe() { print -rl -- ${(P)2}; }; compadd() { print -r -- \"$@\"; }; "
                             "_files() { print files; }; words=(" +
                             words + "); CURRENT=" + std::to_string(at) + "; _deputy";
    return output_of("zsh -fc " + shell_quoted(line) + " 2>&1");
  };
  EXPECT_THAT(offered("deputy se", 2),
              AllOf(HasSubstr("sessions:"), HasSubstr("chat:"), Not(HasSubstr("tree:"))));
  EXPECT_THAT(offered("deputy sessions tr", 3),
              AllOf(HasSubstr("tree:"), HasSubstr("transcript:"), Not(HasSubstr("delegate:"))));
  EXPECT_EQ(offered("deputy --output ''", 3), "-- text json stream-json\n");
  EXPECT_EQ(offered("deputy --config ''", 3), "files\n");
}

TEST_F(CompletionsTest, TheManualIsAPageThatManCanShow) {
  const auto ran = deputy({"manual"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  write(root() / "deputy.1", ran.out);
  EXPECT_EQ(output_of("groff -man -Tutf8 -ww -z " + shell_quoted((root() / "deputy.1").string()) + " 2>&1"),
            "");
  EXPECT_THAT(output_of("groff -man -Tascii -P-cbu " + shell_quoted((root() / "deputy.1").string())),
              AllOf(HasSubstr("deputy sessions tree"), HasSubstr("--max-depth"), HasSubstr("EXIT STATUS")));
}

}  // namespace
}  // namespace deputy
