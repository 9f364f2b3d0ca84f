// The interactive interface on a real terminal while agents work: approvals, questions, the tree, stops.
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "base/display.h"
#include "terminal_test.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using TerminalRealTime = TerminalTest;

std::int64_t wake_ups_of(int program) {
  constexpr std::string_view kCount = "voluntary_ctxt_switches:";
  std::int64_t count = 0;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(program) + "/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(kCount)) count += std::stoll(line.substr(kCount.size()));
  }
  return count;
}

TEST_F(TerminalRealTime, DelegatesAfterApprovalAndGoesOnTalking) {
  chat(delegating("300"));
  enter("review this", "asks for approval");
  EXPECT_THAT(tmux.screen(), HasSubstr("Spawn 2 subagents: [quick] p; [slow] p"));
  tmux.wait_for("(y)");
  tmux.key("y");
  tmux.wait_for("[slow]");
  tmux.wait_for("Both have reported.");
  EXPECT_THAT(tmux.history(), HasSubstr("[quick] ✓ complete"));
  enter("again", "And again.");
  enter("/quit", "Kept as sess_");
}

TEST_F(TerminalRealTime, ARefusalIsToldToTheModelWithItsReason) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},
    {"text":"As you wish.","expect":{"contains":"not today"}}]}]})"));
  enter("write", "(n)");
  tmux.key("n");
  tmux.wait_for("reason:");
  enter("not today", "As you wish.");
  EXPECT_FALSE(std::filesystem::exists(work() / "a.txt"));
}

TEST_F(TerminalRealTime, AQuestionIsAnsweredByASuggestionOrInWords) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"ask_user","arguments":{"question":"Which colour?","suggestions":["red","blue"]}}]},
    {"calls":[{"name":"ask_user","arguments":{"question":"How dark?"}}],"expect":{"contains":"blue"}},
    {"text":"As dark as that.","expect":{"contains":"like the night"}}]}]})"));
  enter("paint", "Which colour?");
  tmux.wait_for("(2) blue");
  tmux.key("2");
  tmux.wait_for("How dark?");
  tmux.wait_for("(w)");
  tmux.key("w");
  tmux.wait_for("answer:");
  enter("like the night", "As dark as that.");
}

TEST_F(TerminalRealTime, AChildsQuestionToItsParentIsAnsweredInItsPlace) {
  chat(script(R"({"v":1,"sessions":[
  {"match":{"label":"main"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"look","run_in_background":true}}]},
    {"first_byte_ms":86400000,"text":"never"}]},
  {"match":{"agent":"explore"},"replies":[
    {"calls":[{"name":"ask_parent","arguments":{"question":"Which one?"}}]},
    {"text":"taken","expect":{"contains":"the red one"}}]}]})"),
       {"--yes"});
  enter("go", "asks: Which one?");
  tmux.key("Tab");
  tmux.wait_for("a answer");
  tmux.key("a");
  tmux.type("the red one");
  tmux.wait_for("answer ❯ the red one");
  tmux.key("Enter");
  tmux.wait_for("✓ complete");
}

TEST_F(TerminalRealTime, AChildIsAnsweredWhileItsParentAsksThePerson) {
  chat(script(R"({"v":1,"sessions":[
  {"match":{"label":"main"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"look","run_in_background":true}}]},
    {"calls":[{"name":"ask_user","arguments":{"question":"Which colour?","suggestions":["red","blue"]}}]},
    {"first_byte_ms":86400000,"text":"never"}]},
  {"match":{"agent":"explore"},"replies":[
    {"calls":[{"name":"ask_parent","arguments":{"question":"Which one?"}}]},
    {"text":"taken","expect":{"contains":"2 of them"}}]}]})"),
       {"--allow", "task"});
  enter("go", "asks: Which one?");
  tmux.wait_for("(2) blue");
  tmux.wait_for("Tab: children");
  tmux.key("Tab");
  tmux.wait_for("a answer");
  EXPECT_THAT(tmux.screen(), Not(HasSubstr("(2) blue")));
  tmux.key("a");
  tmux.wait_for("answer ❯");
  tmux.type("2 of them");
  tmux.wait_for("answer ❯ 2 of them");
  tmux.key("Enter");
  tmux.wait_for("✓ complete");
  tmux.wait_for("(2) blue");
  tmux.key("2");
  tmux.wait_until_gone("(2) blue");
}

TEST_F(TerminalRealTime, AnApprovalForAlwaysIsARuleOfTheNextChat) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},
    {"text":"Written."}]}]})");
  chat(model);
  enter("write", "(a)");
  tmux.key("a");
  tmux.wait_for("❯ (a)");
  tmux.key("Enter");
  tmux.wait_for("Written.");
  EXPECT_THAT(contents(root() / "person/.config/deputy/config.toml"), HasSubstr("\"Write(a.txt)\""));
  std::filesystem::remove(work() / "a.txt");
  chat(model);
  enter("write", "Written.");
}

TEST_F(TerminalRealTime, CtrlCCancelsWhatRunsAndTwoMoreLeave) {
  chat(delegating("86400000"), {"--yes"});
  enter("go", "half way");
  tmux.key("C-c");
  tmux.wait_for("cancelled");
  tmux.wait_until_gone("Ctrl-C cancels");
  tmux.key("C-c");
  tmux.key("C-c");
  expect_left(130);
}

TEST_F(TerminalRealTime, CtrlCEmptiesTheLineWhereNothingRuns) {
  chat(delegating("86400000"), {"--yes"});
  tmux.type("never mind");
  tmux.wait_for("❯ never mind");
  tmux.key("C-c");
  tmux.wait_until_gone("❯ never mind");
  enter("go", "half way");
}

TEST_F(TerminalRealTime, CtrlCTwiceWhileItRunsLeavesWithTheStatusOfWhatIsCancelled) {
  chat(delegating("86400000"), {"--yes"});
  enter("go", "half way");
  tmux.key("C-c");
  tmux.key("C-c");
  expect_left(130);
}

// What a shell started last.
int child_of(int shell) {
  int child = 0;
  std::ifstream("/proc/" + std::to_string(shell) + "/task/" + std::to_string(shell) + "/children") >> child;
  return child;
}

// The tree once, and below what the shell wrote.
void expect_below_shell(const std::string& screen) {
  constexpr std::string_view kTree = "note: half way";
  EXPECT_LT(screen.rfind("shell> fg"), screen.find(kTree)) << screen;
  EXPECT_EQ(screen.find(kTree), screen.rfind(kTree)) << screen;
}

class StoppedTerminalRealTime : public TerminalRealTime {
 protected:
  void delegate_in_a_shell(const std::string& begin, const std::string& model) {
    open_shell();
    enter(begin + " --yes --model " + model);
    if (begin.ends_with("chat")) {
      tmux.wait_for("❯");
      enter("go");
    }
    tmux.wait_for("note: half way");
  }
};

TEST_F(StoppedTerminalRealTime, CtrlZLeavesTheTerminalToTheShellAndFgBringsTheTreeBelowIt) {
  const std::string model = delegating("86400000");
  for (const std::string begin : {"deputy run go", "deputy chat"}) {
    SCOPED_TRACE(begin);
    delegate_in_a_shell(begin, model);
    tmux.key("C-z");
    tmux.wait_for("Stopped");
    EXPECT_THAT(tmux.screen(), Not(HasSubstr("note: half way")));
    enter("echo by the $((1 + 1))nd", "by the 2nd");  // in its ordinary mode
    tmux.resize(70, 20);
    enter("fg", "note: half way");
    expect_below_shell(tmux.screen());
    tmux.key("C-c");
    tmux.wait_for("cancelled");
    tmux.resize(80, 24);
  }
}

TEST_F(StoppedTerminalRealTime, WhatWasStoppedUnheraldedIsDrawnBelowTheShellsLines) {
  const std::string model = delegating("86400000");
  for (const std::string begin : {"deputy run go", "deputy chat"}) {
    SCOPED_TRACE(begin);
    delegate_in_a_shell(begin, model);
    const int program = child_of(tmux.program_id());
    ASSERT_GT(program, 1);
    ::kill(program, SIGSTOP);
    tmux.wait_for("Stopped");
    enter("clear; echo fresh");
    tmux.wait_until_gone("Stopped");
    enter("fg", "note: half way");
    expect_below_shell(tmux.screen());
    tmux.key("C-c");
    tmux.wait_for("cancelled");
  }
}

TEST_F(TerminalRealTime, ARunInTheBackgroundDrawsNothingWhileTheShellHasTheTerminal) {
  open_shell();
  enter("deputy run go --yes --model " + delegating("86400000"), "note: half way");
  tmux.key("C-z");
  tmux.wait_for("Stopped");
  enter("bg", "&");
  enter("deputy sessions ls >/dev/null; echo by the $((1 + 1))nd", "by the 2nd");
  EXPECT_THAT(tmux.screen(), Not(HasSubstr("note: half way")));
  enter("fg", "note: half way");
  expect_below_shell(tmux.screen());
}

class ARunsTreeRealTime : public TerminalRealTime {
 protected:
  // At the foot of a screen that is full.
  void run() {
    open_shell();
    enter("seq 40", "39\n40");
    enter("deputy run go --yes --model " + delegating("86400000"), "note: half way");
  }
  void resize_and_back() const {
    tmux.resize(24, 20);
    tmux.wait_for("→ note: hal…");
    tmux.resize(80, 24);
    tmux.wait_for("→ note: half way");
  }
  // In all that there is to scroll back to.
  void expect_once(std::string_view text) const {
    const std::string all = tmux.history();
    EXPECT_THAT(all, HasSubstr(text));
    EXPECT_EQ(all.find(text), all.rfind(text)) << all;
  }
};

TEST_F(ARunsTreeRealTime, IsDrawnAfreshInAWindowOfAnotherSize) {
  run();
  resize_and_back();
  for (const auto* row : {"[main]  ", "[quick]  ", "[slow]   "}) expect_once(row);
}

TEST_F(ARunsTreeRealTime, ShowsNothingOfWhatIsTypedMeanwhile) {
  run();
  for (int times = 0; times < 3; ++times) tmux.key("Enter");
  tmux.type("typed ahead");
  resize_and_back();  // by then the terminal has had the keys
  for (const auto* row : {"[main]  ", "[quick]  ", "[slow]   "}) expect_once(row);
  EXPECT_THAT(tmux.history(), Not(HasSubstr("typed ahead")));
}

TEST_F(ARunsTreeRealTime, LeavesAShellATerminalThatShowsWhatIsTyped) {
  open_shell();
  enter("deputy run go --yes --model " + delegating("86400000"), "note: half way");
  tmux.key("C-c");
  tmux.wait_for("cancelled");
  enter("echo by the $((1 + 1))nd; cat", "by the 2nd");
  enter("as typed", "as typed\nas typed");  // once by the terminal, and once by what reads it
}

TEST_F(ARunsTreeRealTime, ShowsTheAnswerToAQuestionAsItIsTypedAndTakesNoneThatCameBeforeIt) {
  open({"run", "go", "--model", script(R"({"v":1,"sessions":[{"replies":[
    {"first_byte_ms":3000,"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},
    {"text":"All done."}]}]})")},
       {});
  tmux.wait_for("[main]");
  enter("y");
  tmux.wait_for("if you like:");
  enter("n never mind", "if you like: n never mind");
  tmux.wait_for("All done.");
  EXPECT_FALSE(std::filesystem::exists(work() / "a.txt"));
}

// It has a group of its own in a script, which the terminal belongs to no more than it does to a shell's `&`.
TEST_F(TerminalRealTime, ARunUnderTimeoutTellsWhatHappensInLines) {
  open_shell();
  enter("sh -c 'timeout 60 deputy run go --yes --model " + delegating("300") + "; true'", "Both have");
  EXPECT_THAT(tmux.history(), HasSubstr("note: half way"));
}

TEST_F(TerminalRealTime, OneChildIsCancelledAndTheOthersReport) {
  chat(delegating("86400000"), {"--yes"});
  enter("go", "half way");
  tmux.key("Tab");
  tmux.wait_for("❯ [quick]");
  tmux.key("Down");
  tmux.wait_for("❯ [slow]");
  tmux.wait_for("c cancel");
  tmux.key("c");
  tmux.wait_for("Both have reported.");
  EXPECT_THAT(tmux.history(), HasSubstr("[slow] ✗ cancelled"));
  EXPECT_THAT(tmux.history(), HasSubstr("[quick] ✓ complete"));
}

std::string of_child_that_said(const std::string& text) {
  return R"({"v":1,"sessions":[
  {"match":{"label":"main"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"look"}}]},{"text":"never"}]},
  {"match":{"agent":"explore"},"replies":[
    {"text":")" +
         text + R"(","calls":[{"name":"Note","arguments":{"content":"half way"}}]},
    {"first_byte_ms":86400000,"text":"never"}]}]})";
}

TEST_F(TerminalRealTime, WhatAChildHasSaidIsReadBackAndForth) {
  std::string said;
  for (int row = 10; row < 70; ++row) said += "row-" + std::to_string(row) + "\\n";
  chat(script(of_child_that_said(said)), {"--yes"});
  enter("go", "half way");
  EXPECT_THAT(tmux.history(), Not(HasSubstr("row-69"))) << "control: nobody follows it";
  tmux.key("Tab");
  tmux.wait_for("row-69");
  EXPECT_THAT(tmux.screen(), Not(HasSubstr("row-10")));
  for (int page = 0; page < 10; ++page) tmux.key("PPage");
  tmux.wait_for("row-10");
  EXPECT_THAT(tmux.screen(), Not(HasSubstr("row-69")));
  for (int page = 0; page < 10; ++page) tmux.key("NPage");
  tmux.wait_for("row-69");
}

TEST_F(TerminalRealTime, AChildIsNudgedAndSentToTheBackground) {
  chat(script(R"({"v":1,"sessions":[
  {"match":{"label":"main"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"look"}}]},
    {"text":"I am free."},{"text":"All in."}]},
  {"match":{"agent":"explore"},"replies":[
    {"calls":[{"name":"Note","arguments":{"content":"half way"}}]},
    {"first_byte_ms":3000,"calls":[{"name":"Note","arguments":{"content":"nearly"}}]},
    {"text":"slowly done","expect":{"contains":"be brief"}}]}]})"),
       {"--yes"});
  enter("go", "half way");
  tmux.key("Tab");
  tmux.wait_for("n nudge");
  tmux.key("n");
  tmux.type("be brief");
  tmux.wait_for("to it ❯ be brief");
  tmux.key("Enter");
  tmux.wait_for("reads it before its next step");
  tmux.key("b");
  tmux.wait_for("I am free.");
  tmux.wait_for("All in.");
  EXPECT_THAT(tmux.history(), HasSubstr("[explore] ✓ complete"));
}

TEST_F(TerminalRealTime, ACommandThatRunsShowsWhatItPrints) {
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Bash","arguments":{"command":
      "printf 'half-%s\\n' way; until test -e go; do sleep 0.1; done"}}]},
    {"text":"It is built."}]}]})"),
       {"--yes"});
  enter("build", "│ half-way");
  write(work() / "go", "");
  tmux.wait_for("It is built.");
  tmux.wait_until_gone("│ half-way");
}

TEST_F(TerminalRealTime, GoesOnAfterAKillWhereItWas) {
  const auto model = delegating("86400000");
  chat(model, {"--yes"});
  enter("go", "half way");
  ::kill(tmux.program_id(), SIGKILL);
  tmux.wait_until_ended();
  chat(delegating("10"), {"--yes"});
  tmux.wait_for("Left unfinished; /resume ID goes on with it:");
  enter("/resume", "Both have reported.");
  EXPECT_THAT(tmux.history(), HasSubstr("❯ go"));
}

TEST_F(TerminalRealTime, GoesOnAfterTheTerminalHungUp) {
  chat(delegating("86400000"), {"--yes"});
  enter("go", "half way");
  tmux.hang_up();
  EXPECT_THAT(deputy({"sessions", "ls", "--live"}).out, HasSubstr("main")) << "it was not cancelled";
  chat(delegating("10"), {"--yes"});
  tmux.wait_for("Left unfinished; /resume ID goes on with it:");
  enter("/resume", "Both have reported.");
}

TEST_F(TerminalRealTime, AHangUpEndsAnIdleChatAndAPlainOne) {
  const auto model = script(R"({"v":1,"sessions":[{"replies":[{"text":"Hello."}]}]})");
  chat(model);
  tmux.hang_up();
  plain_chat(model);
  tmux.hang_up();
}

// What only the machine that the terminal stands on could do is not asked for: no clipboard, no links, no
// title. The screen is the ordinary one, so that a connection that breaks leaves its history.
TEST_F(TerminalRealTime, OverAConnectionItIsTheSameChat) {
  chat(delegating("300"), {},
       {{"SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22"},
        {"SSH_CLIENT", "192.0.2.1 50000 22"},
        {"SSH_TTY", "/dev/pts/9"},
        {"TERM", "xterm-256color"}});
  const auto bytes = root() / "streams/bytes";
  tmux.record(bytes);
  enter("review this", "(y)");
  tmux.key("y");
  tmux.wait_for("Both have reported.");
  enter("again", "And again.");
  enter("/quit", "Kept as sess_");
  const std::string written = contents(bytes);
  EXPECT_THAT(written, HasSubstr("Both have"));
  for (const auto* local : {"\x1b]", "\x1bP", "\x1b[?1049", "\x1b[?1000", "\x1b[?1006"})
    EXPECT_THAT(written, Not(HasSubstr(local)));
}

TEST_F(TerminalRealTime, NoEscapeOfAModelACommandOrAFileReachesTheTerminal) {
  write(work() / "evil.txt", "\x1b[2J\x1b]0;owned\x07in a file\n");
  chat(script(R"({"v":1,"sessions":[{"replies":[
    {"text":"\u001b]0;owned\u0007said so","calls":[{"name":"Bash","arguments":{"command":
      "printf '\\033]0;owned\\007it printed\\n'; cat evil.txt; until test -e go; do sleep 0.1; done"}}]},
    {"calls":[{"name":"Read","arguments":{"file_path":"evil.txt"}},
              {"name":"Grep","arguments":{"pattern":"\u001b]0;owned\u0007"}}]},
    {"text":"All told.\u009b31m"}]}]})"),
       {"--yes"});
  const auto bytes = root() / "streams/bytes";
  tmux.record(bytes);
  enter("go", "it printed");
  tmux.wait_for("in a file");
  write(work() / "go", "");
  tmux.wait_for("All told.");
  const std::string written = contents(bytes);
  EXPECT_THAT(written, HasSubstr("said so"));
  for (const auto* escape : {"\x1b]", "\x1b[2J\x1b", "\x07", "\xc2\x9b"})
    EXPECT_THAT(written, Not(HasSubstr(escape)));
}

// Of all its threads together.
TEST_F(TerminalRealTime, AnIdleChatWakesAtMostOnceASecond) {
  chat(delegating("10"), {"--yes"});
  enter("go", "Both have reported.");
  tmux.wait_until_gone("Ctrl-C cancels");
  const int program = tmux.program_id();
  const std::int64_t before = wake_ups_of(program);
  ::poll(nullptr, 0, 60'000);
  const std::int64_t woken = wake_ups_of(program) - before;
  ASSERT_GT(before, 0) << "control: it is counted";
  EXPECT_LE(woken, 60);
  enter("again", "And again.");
  EXPECT_GT(wake_ups_of(program), before + woken) << "control: it goes on counting";
}

TEST_F(TerminalRealTime, ANarrowerWindowIsDrawnAfresh) {
  chat(delegating("86400000"), {"--yes"});
  enter("go", "half way");
  tmux.resize(40, 20);
  tmux.wait_until_gone("note: half way");  // there is no room for all of it
  EXPECT_THAT(tmux.screen(), ::testing::HasSubstr("Tab: children"));
  tmux.resize(100, 30);
  tmux.wait_for("note: half way");
  const std::string screen = tmux.screen();
  EXPECT_EQ(screen.find("→ note: half way"), screen.rfind("→ note: half way")) << "drawn once:\n" << screen;
}

TEST_F(TerminalRealTime, AWindowThatBecomesSmallerBothWaysAndLargerAgainShowsAChildOnce) {
  chat(script(R"({"v":1,"sessions":[
  {"match":{"label":"main"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"look"}}]},{"text":"never"}]},
  {"match":{"agent":"explore"},"replies":[
    {"text":"row-1\nrow-2\nrow-3\nrow-4\nrow-5\nrow-6\nrow-7\nrow-8\n",
     "calls":[{"name":"Note","arguments":{"content":"half way"}}]},
    {"first_byte_ms":86400000,"text":"never"}]}]})"),
       {"--yes"});
  enter("go", "half way");
  tmux.key("Tab");
  tmux.wait_for("row-1");
  tmux.wait_for("Esc back");
  for (int times = 0; times < 2; ++times) {
    tmux.resize(40, 10);
    tmux.wait_until_gone("row-1");
    tmux.wait_for("Esc back");  // what stood below the cursor is gone until it is drawn afresh
    tmux.resize(80, 24);
    tmux.wait_for("→ note: half way");  // which a narrow screen has no room for
    const std::string all = tmux.history();
    for (const auto* once : {"│ ❯ look", "│ row-1", "│ row-4", "❯ go", "Say what to do"}) {
      EXPECT_THAT(all, HasSubstr(once));
      EXPECT_EQ(all.find(once), all.rfind(once)) << once << " is there twice:\n" << all;
    }
  }
}

TEST_F(TerminalRealTime, AChildWithMoreToReadThanTheScreenHoldsIsShownOnceAfterAVerySmallWindow) {
  std::string said;
  for (int row = 10; row < 40; ++row)
    said +=
        "row-" + std::to_string(row) + " is a line of so many words that forty columns break it in two\\n";
  chat(script(of_child_that_said(said)), {"--yes"});
  enter("go", "half way");
  tmux.key("Tab");
  tmux.wait_for("│ row-39");
  tmux.wait_for("Esc back");
  EXPECT_THAT(tmux.screen(), HasSubstr("❯ go")) << "what was said last stays in sight";
  tmux.resize(40, 10);
  tmux.wait_until_gone("│ row-30");
  tmux.wait_for("Esc back");
  tmux.resize(80, 24);
  tmux.wait_for("│ row-39 is a line of so many words that forty columns break it in two");
  const std::string all = tmux.history();
  for (int row = 10; row < 40; ++row) {
    const std::string once = "│ row-" + std::to_string(row);
    EXPECT_EQ(all.find(once), all.rfind(once)) << once << " is there twice:\n" << all;
  }
  EXPECT_EQ(all.find("❯ go"), all.rfind("❯ go")) << all;
}

class NarrowedTerminalRealTime : public TerminalRealTime {
 protected:
  static constexpr std::string_view kAsks = "→ asks: ";
  // The row that tells of it above the question; empty where there is none.
  std::string ask_for_approval() {
    enter("review this", "asks for approval");
    tmux.wait_for("(y)");
    const std::string screen = tmux.screen();
    const std::size_t begin = std::min(screen.find(kAsks), screen.size());
    return screen.substr(begin, screen.find('\n', begin) - begin);
  }
  // As where a person drags the window's edge, and tmux wraps each time what stands there.
  void expect_one_question_while_narrowed(int rows, int least_columns) {
    const std::string row = ask_for_approval();
    ASSERT_EQ(display_width(row), 79U) << "control: as wide as the window, and cut";
    for (int columns = 76; columns >= least_columns; columns -= 4) {
      tmux.resize(columns, rows);
      tmux.wait_for(cut_to_width(row, static_cast<std::size_t>(columns - 1)));
    }
    tmux.resize(80, rows);
    tmux.wait_for(row);
    const std::string all = tmux.history();
    for (const std::string_view once : {kAsks, std::string_view("asks for approval")})
      EXPECT_EQ(all.find(once), all.rfind(once)) << all;
    EXPECT_THAT(all, HasSubstr("❯ review this")) << "what was said stays";
  }
};

TEST_F(NarrowedTerminalRealTime, AQuestionBelowALongConversationIsShownOnce) {
  tmux.resize(80, 50);
  chat(delegating("86400000"));
  enter("/help", "write this session's transcript to a file");
  expect_one_question_while_narrowed(50, 60);
  EXPECT_THAT(tmux.screen(), HasSubstr("❯ review this"));
}

// What the terminal has pushed off by then is not to be reached any more (live_region.h).
TEST_F(NarrowedTerminalRealTime, AQuestionThatANarrowWindowWrapsBeyondItsRowsIsOnTheScreenOnce) {
  tmux.resize(40, 16);
  chat(delegating("86400000"));
  const std::string row = ask_for_approval();
  ASSERT_EQ(display_width(row), 39U) << "control: as wide as the window, and cut";
  for (const int columns : {30, 25, 40}) {
    tmux.resize(columns, 16);
    tmux.wait_for(cut_to_width(row, static_cast<std::size_t>(columns - 1)));
    const std::string screen = tmux.screen();
    for (const std::string_view once : {kAsks, std::string_view("asks for approval")})
      EXPECT_EQ(screen.find(once), screen.rfind(once)) << columns << ":\n" << screen;
  }
}

TEST_F(NarrowedTerminalRealTime, AQuestionBelowAShortConversationIsShownOnce) {
  chat(delegating("86400000"));
  expect_one_question_while_narrowed(24, 44);
}

}  // namespace
}  // namespace deputy
