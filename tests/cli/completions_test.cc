// What `deputy completions` and `deputy manual` print, read by those they are for.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>

#include "app/places.h"
#include "base/json.h"
#include "deputy_program.h"
#include "support/paths.h"

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
  // What a shell of the person's prints, where deputy is found by its name.
  std::string said_by(const std::string& shell, const std::string& script) const {
    const auto set = [](const std::string& name, const std::string& value) {
      return name + "=" + shell_quoted(value) + " ";
    };
    return output_of("cd " + shell_quoted(work().string()) + " && env " +
                     set("PATH", bin_dir() + ":/usr/bin:/bin") + set("HOME", root() / "person") +
                     set("DEPUTY_HOME", home()) + set("LC_ALL", "C.UTF-8") + shell + " " +
                     shell_quoted(script) + " 2>&1");
  }
  // What bash offers where the last word is being typed.
  std::string offered_by_bash(const std::string& words, int at) {
    return said_by("bash --norc -c", "source " + file_for("bash") + "; COMP_WORDS=(" + words +
                                         "); COMP_CWORD=" + std::to_string(at) +
                                         "; _deputy; echo \"${COMPREPLY[@]}\"");
  }
  // What zsh's own functions are told, in a shell that completes nothing.
  std::string offered_by_zsh(const std::string& words, int at) {
    return said_by("zsh -fc", "compdef() { }; source " + file_for("zsh") +
                                  "; _describe() { print -rl -- ${(P)2}; }; compadd() { print -r -- \"$@\"; "
                                  "}; compset() { }; _files() { print files; }; words=(" +
                                  words + "); CURRENT=" + std::to_string(at) + "; _deputy");
  }
  std::string offered_by_fish(const std::string& line) {
    return said_by("fish -N -c", "source " + file_for("fish") + "; complete -C " + shell_quoted(line));
  }
  static bool has(const std::string& shell) { return !output_of("command -v " + shell).empty(); }
  // A session of one child; yields its id.
  std::string add_tree() {
    const auto ran = deputy({"task", "explore", "what is here", "--model", "rehearsal", "--output", "json"});
    const auto result = parse_json_object(ran.out);
    EXPECT_TRUE(result) << ran.err;
    return result ? string_or(*result, "session_id", "") : "";
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

// A person's second Tab would put a dash into the line, which is all that they share.
TEST_F(CompletionsTest, OptionsAreOfferedOnceOneIsBegun) {
  EXPECT_EQ(offered_by_bash("deputy sessions show newest ''", 4), "\n");
  EXPECT_EQ(offered_by_bash("deputy task explore ''", 3), "\n");
  EXPECT_THAT(offered_by_bash("deputy ''", 1), AllOf(HasSubstr("sessions"), Not(HasSubstr("--"))));
  EXPECT_THAT(offered_by_bash("deputy task explore -", 3), HasSubstr("--background"));
  NEEDS(has("zsh"), "zsh is not installed");
  EXPECT_THAT(offered_by_zsh("deputy task explore ''", 4), Not(HasSubstr("-")));
  EXPECT_THAT(offered_by_zsh("deputy ''", 2), AllOf(HasSubstr("sessions:"), Not(HasSubstr("--model:"))));
  EXPECT_THAT(offered_by_zsh("deputy task explore -", 4), HasSubstr("--background:"));
}

// bash makes three words of it.
TEST_F(CompletionsTest, AValueIsCompletedBehindAnEqualsSign) {
  EXPECT_EQ(offered_by_bash("deputy --output = j", 3), "json\n");
  EXPECT_EQ(offered_by_bash("deputy --output =", 2), "text json stream-json\n");
  EXPECT_EQ(offered_by_bash("deputy --output = json sessions tr", 5), "tree transcript\n");
  EXPECT_EQ(offered_by_bash("deputy run --model = rehe", 4), "rehearsal\n");
  NEEDS(has("zsh"), "zsh is not installed");
  EXPECT_EQ(offered_by_zsh("deputy --output=j", 2), "-- text json stream-json\n");
  EXPECT_THAT(offered_by_zsh("deputy --model=rehe", 2), HasSubstr("rehearsal:built in"));
}

TEST_F(CompletionsTest, BashAsksForTheNamesThatThereAre) {
  const auto id = add_tree();
  for (const std::string view : {"show", "tree", "tail", "answer", "prune"})
    EXPECT_THAT(offered_by_bash("deputy sessions " + view + " ''", 3),
                AllOf(HasSubstr("newest "), HasSubstr(id), Not(HasSubstr("--"))))
        << view;
  EXPECT_EQ(offered_by_bash("deputy sessions show " + id.substr(0, id.size() - 1), 3), id + "\n");
  EXPECT_EQ(offered_by_bash("deputy resume ne", 2), "newest\n");
  EXPECT_EQ(offered_by_bash("deputy doctor --bundle ne", 3), "newest\n");
  EXPECT_EQ(offered_by_bash("deputy task expl", 2), "explore\n");
  EXPECT_EQ(offered_by_bash("deputy agents show expl", 3), "explore\n");
  EXPECT_EQ(offered_by_bash("deputy run --model rehe", 3), "rehearsal\n");
  EXPECT_THAT(offered_by_bash("deputy --model anthropic/", 2), HasSubstr("anthropic/claude"));
}

// bash parts a word at its colons, and puts what is offered in the place of the last part.
TEST_F(CompletionsTest, BashCompletesAModelBehindTheColonInItsName) {
  write(root() / "own.toml",
        "[models.\"ollama/of-mine:8b\"]\nwindow = 4096\n[models.\"ollama/of-mine:14b\"]\nwindow = 4096\n");
  const std::string line = "deputy --config " + (root() / "own.toml").string() + " --model ";
  // As bash tells it: the line, and its words.
  const auto offered = [this](const std::string& text, const std::string& words, int at,
                              const std::string& breaks = " :") {
    return said_by("bash --norc -c",
                   "source " + file_for("bash") + "; COMP_WORDBREAKS='" + breaks +
                       "'; COMP_LINE=" + shell_quoted(text) + "; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(" +
                       words + "); COMP_CWORD=" + std::to_string(at) + "; _deputy; echo \"${COMPREPLY[@]}\"");
  };
  EXPECT_EQ(offered(line + "ollama/of-mine:8", line + "ollama/of-mine : 8", 6), "8b\n");
  EXPECT_EQ(offered(line + "ollama/of-mine:", line + "ollama/of-mine :", 5), "14b 8b\n");
  EXPECT_EQ(offered(line + "ollama/of-mi", line + "ollama/of-mi", 4),
            "ollama/of-mine:14b ollama/of-mine:8b\n");
  EXPECT_EQ(offered(line + "x: sess", line + "x : sess", 6), "sessions\n") << "a word of its own";
  EXPECT_EQ(offered(line + "ollama/of-mine:8", line + "ollama/of-mine:8", 4, " "), "ollama/of-mine:8b\n")
      << "where it is not parted";
}

TEST_F(CompletionsTest, OnlyTheFirstArgumentIsAName) {
  const auto id = add_tree();
  EXPECT_THAT(offered_by_bash("deputy sessions answer " + id + " ''", 4), Not(HasSubstr("newest")));
  EXPECT_THAT(offered_by_bash("deputy task explore ''", 3), Not(HasSubstr("general")));
  EXPECT_EQ(offered_by_bash("deputy sessions show --he", 3), "--help\n");
}

TEST_F(CompletionsTest, NamesAreThoseOfTheFolderThatIsTyped) {
  add_tree();
  EXPECT_EQ(offered_by_bash("deputy --home " + (root() / "none").string() + " resume ''", 4), "\n");
  EXPECT_FALSE(std::filesystem::exists(root() / "none")) << "nothing is made in order to look";
  EXPECT_THAT(offered_by_bash("deputy --home " + home().string() + " resume ''", 4), HasSubstr("newest"));
}

TEST_F(CompletionsTest, EveryOptionIsOfferedOnce) {
  const std::string offered = " " + offered_by_bash("deputy task explore -", 3);
  for (const std::string option : {" -h ", " --help ", " --timeout ", " --model "}) {
    const auto at = offered.find(option);
    ASSERT_NE(at, std::string::npos) << option << offered;
    EXPECT_EQ(offered.find(option, at + 1), std::string::npos) << option << offered;
  }
  const std::string fish = deputy({"completions", "fish"}).out;
  EXPECT_EQ(fish.find("-l help", fish.find("-l help") + 1), std::string::npos);
}

TEST_F(CompletionsTest, WhatTheyAskIsInNoHelp) {
  EXPECT_THAT(deputy({"--help"}).out, AllOf(HasSubstr("\n  completions "), Not(HasSubstr("\n  complete "))));
  EXPECT_THAT(deputy({"manual"}).out, Not(HasSubstr("deputy complete\n")));
  EXPECT_EQ(deputy({"complete", "sessions"}).out, "") << "there is none";
  EXPECT_THAT(files_below(home()), ::testing::IsEmpty());
  EXPECT_EQ(deputy({"complete", "secrets"}).status, 2);
}

TEST_F(CompletionsTest, TheHundredNewestSessionsAreOffered) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"it is fine"}]}]})");
  std::vector<std::string> nine{"delegate", "--model", model};
  for (int task = 0; task < 8; ++task) nine.insert(nine.end(), {"--task", "a=look"});
  for (int batch = 0; batch < 11; ++batch) deputy(nine);
  const auto first = deputy({"complete", "sessions"}).out;
  EXPECT_EQ(std::ranges::count(first, '\n'), 1 + 99);
  deputy({"run", "hello", "--model", model});
  const auto all = deputy({"complete", "sessions"}).out;
  EXPECT_EQ(std::ranges::count(all, '\n'), 1 + 100);
  deputy({"run", "the last", "--model", model});
  const auto most = deputy({"complete", "sessions"}).out;
  EXPECT_EQ(std::ranges::count(most, '\n'), 1 + 100);
  EXPECT_THAT(most, HasSubstr("the last\n"));
}

TEST_F(CompletionsTest, ALossIsLeftToTheNextCommandToTell) {
  add_tree();
  const auto before = contents(home() / "deputy.db");
  add_tree();
  write(home() / "deputy.db", before);
  for (const char* log : {"deputy.db-wal", "deputy.db-shm"}) std::filesystem::remove(home() / log);
  const auto asked = deputy({"complete", "sessions"});
  EXPECT_THAT(asked.out, HasSubstr("newest\t"));
  EXPECT_EQ(asked.err, "");
  EXPECT_THAT(deputy({"sessions", "ls"}).err, HasSubstr("records are lost"));
  EXPECT_EQ(deputy({"sessions", "ls"}).err, "") << "once";
}

TEST_F(CompletionsTest, ZshAsksToo) {
  NEEDS(has("zsh"), "zsh is not installed");
  const auto id = add_tree();
  EXPECT_THAT(offered_by_zsh("deputy sessions tree ''", 4),
              AllOf(HasSubstr("newest:the tree"), HasSubstr(id + ":completed"), Not(HasSubstr("--help"))));
  EXPECT_THAT(offered_by_zsh("deputy task ''", 3), HasSubstr("explore:"));
  EXPECT_THAT(offered_by_zsh("deputy --model ''", 3), HasSubstr("rehearsal:built in"));
  EXPECT_EQ(offered_by_zsh("deputy agents check ''", 4), "files\n");
}

TEST_F(CompletionsTest, ZshCompletesWhicheverWayTheyAreLoaded) {
  NEEDS(has("zsh"), "zsh is not installed");
  const std::string file = file_for("zsh");
  const std::string begin = "autoload -Uz compinit; compinit -D -u; ";
  const std::string completer = "; print -r -- \"<${_comps[deputy]}>\"";
  EXPECT_EQ(said_by("zsh -fc", begin + "source " + file + completer), "<_deputy>\n");
  EXPECT_EQ(said_by("zsh -fc", begin + "source <(cat " + file + ")" + completer), "<_deputy>\n");
  EXPECT_EQ(said_by("zsh -fc", begin + completer.substr(2)), "<>\n") << "control";

  const auto folder = root() / "functions";
  write(folder / "_deputy", deputy({"completions", "zsh"}).out);
  const std::string autoloaded = "fpath=(" + shell_quoted(folder.string()) + " $fpath); " + begin;
  EXPECT_EQ(said_by("zsh -fc", autoloaded + completer.substr(2)), "<_deputy>\n");
  EXPECT_THAT(said_by("zsh -fc", autoloaded + "_describe() { print -rl -- ${(P)2}; }; words=(deputy sess); "
                                              "CURRENT=2; _deputy"),
              HasSubstr("sessions:"))
      << "at the first Tab already";
}

TEST_F(CompletionsTest, ZshIsToldWhatTheyNeedWhereItCompletesNothingYet) {
  NEEDS(has("zsh"), "zsh is not installed");
  EXPECT_THAT(said_by("zsh -fc", "source " + file_for("zsh")),
              HasSubstr("`autoload -Uz compinit && compinit`"));
}

TEST_F(CompletionsTest, FishAsksToo) {
  NEEDS(has("fish"), "fish is not installed");
  const auto id = add_tree();
  EXPECT_THAT(offered_by_fish("deputy sessions tree "), AllOf(HasSubstr("newest\t"), HasSubstr(id + "\t")));
  EXPECT_THAT(offered_by_fish("deputy task "), HasSubstr("explore\t"));
  EXPECT_THAT(offered_by_fish("deputy --model rehe"), HasSubstr("rehearsal\t"));
}

TEST_F(CompletionsTest, AnUnknownShellIsRefused) {
  const auto ran = deputy({"completions", "tcsh"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("it must be bash or zsh or fish"));
}

TEST_F(CompletionsTest, ZshAndFishReadTheirs) {
  EXPECT_EQ(output_of("zsh -fn " + file_for("zsh") + " 2>&1"), "");
  EXPECT_EQ(output_of("fish -N -n " + file_for("fish") + " 2>&1"), "");
  EXPECT_THAT(offered_by_fish("deputy sessions tr"),
              AllOf(HasSubstr("tree\t"), HasSubstr("transcript\t"), Not(HasSubstr("ls\t"))));
  EXPECT_THAT(deputy({"completions", "fish"}).out, HasSubstr("-l color -x -a 'auto always never'"));
  EXPECT_THAT(deputy({"completions", "zsh"}).out,
              HasSubstr("--color) compadd -- auto always never; return ;;"));
}

TEST_F(CompletionsTest, ZshOffersWhatFitsWhereItStands) {
  EXPECT_THAT(offered_by_zsh("deputy se", 2),
              AllOf(HasSubstr("sessions:"), HasSubstr("chat:"), Not(HasSubstr("tree:"))));
  EXPECT_THAT(offered_by_zsh("deputy sessions tr", 3),
              AllOf(HasSubstr("tree:"), HasSubstr("transcript:"), Not(HasSubstr("delegate:"))));
  EXPECT_EQ(offered_by_zsh("deputy --output ''", 3), "-- text json stream-json\n");
  EXPECT_EQ(offered_by_zsh("deputy --config ''", 3), "files\n");
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
