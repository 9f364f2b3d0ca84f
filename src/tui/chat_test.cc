#include "tui/chat.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "tui/chat_frame.h"
#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Chat = ChatPlay;

TEST_F(Chat, WhatIsTypedIsSubmittedAndTheLineIsEmpty) {
  type("do it");
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<SubmitInput>(intents));
  EXPECT_EQ(only<SubmitInput>(intents)->text, "do it");
  EXPECT_EQ(story.state.input.text, "");
  EXPECT_THAT(key(KeyName::enter), IsEmpty()) << "nothing is no input";
}

TEST_F(Chat, WhatIsTypedWhileItRunsComesNext) {
  story.begin("first");
  type("second");
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.state.queued, ElementsAre("second"));
}

TEST_F(Chat, AReplyGoesIntoTheScrollbackBlockByBlock) {
  story.begin("hi");
  story.take_out();
  apply_text(story.state, story.root, "One *blo");
  EXPECT_THAT(story.take_out(), IsEmpty());
  apply_text(story.state, story.root, "ck*.\n\nTwo an");
  EXPECT_EQ(story.take_out(), "\nOne block.\n");
  story.reply("One *block*.\n\nTwo and.");
  EXPECT_EQ(story.take_out(), "\nTwo and.\n");
}

TEST_F(Chat, AReplyThatWasNotStreamedIsPrintedWhole) {
  story.begin("hi");
  story.take_out();
  story.reply("All at once.");
  EXPECT_EQ(story.take_out(), "\nAll at once.\n");
}

TEST_F(Chat, AReplyThatBrokeOffIsSaidAgain) {
  story.begin("hi");
  apply_text(story.state, story.root, "Old.\n\nOld too");
  apply_retry(story.state, story.root);
  story.take_out();
  apply_text(story.state, story.root, "New");
  story.reply("New.");
  EXPECT_EQ(story.take_out(), "\nNew.\n");
}

// Whether eight characters of it in a row are to be seen, over the ends of lines too.
bool shows_part_of(std::string shown, std::string_view key) {
  std::erase_if(shown, [](char c) { return c == '\n' || c == ' '; });
  for (std::size_t at = 0; at + 8 <= key.size(); ++at) {
    if (shown.contains(key.substr(at, 8))) return true;
  }
  return false;
}

struct Seen {
  std::string printed;
  std::string frames;
};

// All that a person gets to see of a reply that comes in pieces of this size.
Seen seen_of_reply(ChatStory& story, std::string_view text, std::size_t piece, int columns) {
  story.begin("say it");
  Seen seen;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    apply_text(story.state, story.root, text.substr(at, piece));
    seen.printed += story.take_out();
    seen.frames += story.screen(columns);
  }
  story.reply(story.redactor.redact_values(text));  // as it is kept
  seen.printed += story.take_out();
  return seen;
}

TEST_F(Chat, NothingEverShowsAKeyHoweverItsReplyIsCutIntoPieces) {
  constexpr std::string_view kValue = "canary+7f3/a1b2?c3d4&e5f6=0718~293a4b5c";
  constexpr std::string_view kByItsLooks = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  for (const std::string_view key : {kValue, kByItsLooks}) {
    const std::string text = fmt::format("Once.\n\nIt is {0} or `{0}`.\n\n```\nx={0}\n```\n\nEnd.", key);
    for (const int columns : {24, 80}) {
      for (const std::size_t piece : {1, 3, 7, 20, 39, 200}) {
        ChatStory knows;
        knows.redactor.hide(kValue);
        const auto [printed, frames] = seen_of_reply(knows, text, piece, columns);
        EXPECT_FALSE(shows_part_of(frames, key)) << key << " in pieces of " << piece << "\n" << frames;
        EXPECT_FALSE(shows_part_of(printed, key)) << key << " in pieces of " << piece << "\n" << printed;
        EXPECT_THAT(printed, HasSubstr("It is [redacted]"));
        EXPECT_THAT(printed, HasSubstr("End."));
        EXPECT_EQ(printed.find("Once."), printed.rfind("Once.")) << printed;
      }
    }
  }
  EXPECT_TRUE(shows_part_of(seen_of_reply(story, kValue, 3, 24).printed, kValue))
      << "control: it is not told";
}

TEST_F(Chat, AKeyInACallOrInAChildsReplyIsHiddenBeforeItIsCutIntoLines) {
  constexpr std::string_view kKey = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  story.begin("go");
  story.reply("", {{"1", "Bash", fmt::format(R"({{"command":"echo {}"}})", kKey)}});
  story.finish_call(0, ToolStatus::ok, "");
  EXPECT_THAT(story.take_out(), HasSubstr("Bash echo [redacted]"));
  story.child("a");
  Reply reply;
  reply.message = {.role = Role::assistant, .text = std::string(kKey)};
  story.tell_child("a", ReplyReceived{reply});
  key(KeyName::tab);
  EXPECT_FALSE(shows_part_of(story.screen(24), kKey)) << story.screen(24);
}

TEST_F(Chat, CallsAreFoldedToALineAndEditsShowWhatChanged) {
  story.begin("go");
  story.reply("", {{"1", "Read", R"({"file_path":"a.txt"})"},
                   {"2", "Edit", R"({"file_path":"a.txt","old_string":"x\ny","new_string":"z"})"},
                   {"3", "Bash", R"({"command":"false"})"}});
  story.take_out();
  story.finish_call(0, ToolStatus::ok, "1\tx");
  story.finish_call(1, ToolStatus::ok, "done");
  story.finish_call(2, ToolStatus::error, "exit status 1\nmore");
  EXPECT_EQ(story.take_out(),
            "\n✓ Read a.txt\n\n✓ Edit a.txt\n    -x\n    -y\n    +z\n\n✗ Bash false\n    exit status 1\n    "
            "more\n");
}

TEST_F(Chat, AFailedCommandShowsItsLastLinesAndItsStatus) {
  const auto failed = [this](int lines) {
    std::string content;
    for (int line = 1; line < lines; ++line) content += fmt::format("line {}\n\n", line);
    story.step += 1;
    story.reply("", {{"1", "Bash", R"({"command":"make"})"}});
    story.take_out();
    story.finish_call(0, ToolStatus::error, content + "\x1b[31m[exit status 1]");
    return story.take_out();
  };
  story.begin("go");
  EXPECT_EQ(failed(6),
            "\n✗ Bash make\n    line 1\n    line 2\n    line 3\n    line 4\n    line 5\n"
            "    ␛[31m[exit status 1]\n");
  EXPECT_EQ(failed(7),
            "\n✗ Bash make\n    line 1\n    … 1 line left out\n    line 3\n    line 4\n    line 5\n"
            "    line 6\n    ␛[31m[exit status 1]\n");
  EXPECT_THAT(failed(100'000), AllOf(HasSubstr("    … 99,994 lines left out\n    line 99996\n"),
                                     HasSubstr("    line 99999\n    ␛[31m[exit status 1]\n")));
}

TEST_F(Chat, WhyACallFailedIsWrappedWhereItIsOneLine) {
  story.state.size = {40, 24};
  story.begin("go");
  story.reply("", {{"1", "Write", "{}"}});
  story.take_out();
  story.finish_call(0, ToolStatus::error, "There is no such folder here; make it first, or choose another.");
  const std::string told = story.take_out();
  EXPECT_THAT(told, AllOf(HasSubstr("\n    There is"), HasSubstr("another.\n"), Not(HasSubstr("…"))));
}

TEST_F(Chat, TheLastLinesOfACommandStandBelowItWhileItRuns) {
  story.begin("build");
  story.reply("", {{"1", "Bash", R"({"command":"make"})"}});
  apply_output(story.state, story.root, "one\ntwo\n\n10%\r20%\r\nfour\n");
  EXPECT_THAT(story.screen(80), HasSubstr("\n  │ two\n  │ 20%\n  │ four\n"));
  EXPECT_THAT(story.screen(80), Not(HasSubstr("one")));
  apply_output(story.state, story.root, std::string(200, 'x') + "\n\x1b[2Jend\n");
  for (const auto& line : frame_of(story.state).lines) EXPECT_LT(width_of(line), 80u);
  EXPECT_THAT(story.screen(80), Not(HasSubstr("\x1b")));
  EXPECT_THAT(story.screen(80), HasSubstr("end"));
  story.finish_call(0, ToolStatus::ok, "built");
  EXPECT_THAT(story.screen(80), Not(HasSubstr("│")));
}

TEST_F(Chat, WhatTheCommandOfAChildPrintsIsSeenByWhoFollowsIt) {
  story.begin("go");
  story.child("build");
  apply_output(story.state, SessionId("sess_build"), "linking\n");
  EXPECT_THAT(story.screen(80), Not(HasSubstr("linking")));
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), HasSubstr("│ linking\n"));
  story.tell_child("build", CallFinished{{"", ToolStatus::ok, "linked"}});
  EXPECT_THAT(story.screen(80), Not(HasSubstr("linking")));
}

TEST_F(Chat, AChildWhoseCommandPrintsOrThatSpeaksIsNotIdle) {
  story.begin("go");
  story.child("a");
  const auto wait = [this] { story.pass(std::chrono::seconds(7)); };
  wait();
  EXPECT_THAT(story.screen(80), HasSubstr("idle 7s")) << "control";
  apply_output(story.state, SessionId("sess_a"), "linking\n");
  EXPECT_THAT(story.screen(80), HasSubstr("idle 0s"));
  wait();
  apply_output(story.state, SessionId("sess_a"), "");
  EXPECT_THAT(story.screen(80), HasSubstr("idle 0s")) << "a line that has no end yet";
  wait();
  apply_text(story.state, SessionId("sess_a"), "I see");
  EXPECT_THAT(story.screen(80), HasSubstr("idle 0s"));
  story.tell_child("a", RunEnded{Report{}});
  wait();
  apply_output(story.state, SessionId("sess_a"), "late\n");
  EXPECT_THAT(story.screen(80), HasSubstr("out=0  21s\n")) << "how long it worked";
}

TEST_F(Chat, BesideACallStandsHowLongItHasTaken) {
  story.begin("go");
  story.pass(std::chrono::seconds(40));
  EXPECT_THAT(story.screen(80), HasSubstr("→ started  40s\n")) << "control";
  story.reply("", {{"1", "Read", "{}"}, {"2", "Bash", "{}"}});
  story.tell_root(CallStarted{"Read", "cart.py"}, 0);
  story.pass(std::chrono::seconds(5));
  EXPECT_THAT(story.screen(80), HasSubstr("→ Read cart.py  5s\n"));
  story.tell_root(CallStarted{"Bash", "make"}, 1);
  EXPECT_THAT(story.screen(80), HasSubstr("→ Bash make\n")) << "it begins";
  story.pass(std::chrono::seconds(2));
  EXPECT_THAT(story.screen(80), HasSubstr("→ Bash make  2s\n"));
  story.finish_call(1, ToolStatus::ok, "made");
  EXPECT_THAT(story.screen(80), HasSubstr("→ Read cart.py  7s\n")) << "the other goes on";
  story.finish_call(0, ToolStatus::ok, "read");
  EXPECT_THAT(story.screen(80), HasSubstr("→ thinking  47s\n"));
}

TEST_F(Chat, ACallIsNotMarkedDoneWhereItsChildrenDidNotComplete) {
  const auto told = [](Status first, Status second, int call_of_second) {
    ChatStory story;
    story.begin("go");
    story.reply("", {{"1", "Delegate", R"({"tasks":[{},{}]})"}, {"2", "Delegate", R"({"tasks":[{}]})"}});
    for (const auto& [label, status, call] :
         {std::tuple("a", first, 0), std::tuple("b", second, call_of_second)}) {
      Session session;
      session.delegation = DelegationKey{{{story.root, 1}, story.step, call}, 0};
      story.tell_child(label, SessionCreated{session});
      story.child(label);
      Report report;
      report.status = status;
      story.tell_child(label, RunEnded{report});
    }
    story.take_out();
    story.finish_call(0, ToolStatus::ok, "## Subagents complete");
    return story.take_out();
  };
  EXPECT_THAT(told(Status::cancelled, Status::cancelled, 0),
              HasSubstr("✗ Delegate 2 tasks\n    cancelled\n"));
  EXPECT_THAT(told(Status::cancelled, Status::completed, 0),
              HasSubstr("⚠ Delegate 2 tasks\n    1 of 2 completed\n"));
  EXPECT_THAT(told(Status::cancelled, Status::failed, 0),
              HasSubstr("✗ Delegate 2 tasks\n    0 of 2 completed\n"));
  EXPECT_THAT(told(Status::completed, Status::completed, 0), HasSubstr("✓ Delegate 2 tasks\n"));
  EXPECT_THAT(told(Status::partial, Status::completed, 1), HasSubstr("⚠ Delegate 2 tasks\n    ⚠ partial"));
  EXPECT_THAT(told(Status::cancelled, Status::completed, 1), HasSubstr("✗ Delegate 2 tasks"))
      << "another call's child does not count";
  EXPECT_THAT(told(Status::completed, Status::cancelled, 1), HasSubstr("✓ Delegate 2 tasks"));
}

// Begins a child by a call of the root.
void start_by_task(ChatStory& story, int call, const std::string& label) {
  story.tell_root(CallStarted{"task", label}, call);
  Session session;
  session.delegation = DelegationKey{{{story.root, 1}, story.step, call}, 0};
  story.tell_child(label, SessionCreated{session});
  story.child(label);
}

TEST_F(Chat, ACallThatGaveItsChildToTheBackgroundIsNotMarkedDoneAndTheTreeSaysSo) {
  story.begin("go");
  story.reply("", {{"1", "task", R"({"description":"cart look"})"}});
  start_by_task(story, 0, "a");
  story.call_of_child("Read", "cart.py");
  EXPECT_THAT(story.screen(80), Not(HasSubstr("background: "))) << "control";
  story.tell_root(Detached{SessionId("sess_a")}, 0);
  story.take_out();
  story.finish_call(0, ToolStatus::ok, "it goes on");
  EXPECT_EQ(story.take_out(), "\n→ task cart look\n    goes on in the background\n");
  EXPECT_THAT(story.screen(80), HasSubstr("→ background: Read cart.py"));
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(story.screen(80), Not(HasSubstr("background")));

  story.step = 1;
  story.reply("", {{"2", "task", R"({"description":"look again"})"}});
  story.child("a");
  EXPECT_THAT(story.screen(80), Not(HasSubstr("background"))) << "a call waits for it again";
  story.tell_root(Detached{SessionId("sess_a")}, 0);
  story.take_out();
  story.finish_call(0, ToolStatus::ok, "it goes on");
  EXPECT_EQ(story.take_out(), "\n→ task look again\n    goes on in the background\n") << "gone on with";
}

TEST_F(Chat, ACallThatEndsAsItsChildAsksIsNotMarkedDoneButTheOneThatWaitsForItSinceIs) {
  story.begin("go");
  story.reply("", {{"1", "task", R"({"description":"till look"})"}});
  start_by_task(story, 0, "a");
  story.ask("a", "Red or\nblue?", {}, QuestionKind::to_parent);
  story.tell_root(Detached{SessionId("sess_a"), 1, "q1"}, 0);
  story.take_out();
  story.finish_call(0, ToolStatus::ok, "it asks");
  EXPECT_EQ(story.take_out(), "\n? task till look\n    asks: Red or blue?\n");

  story.step = 1;
  story.reply("", {{"2", "answer_subagent", R"({"question_id":"q1"})"}});
  story.tell_root(CallStarted{"answer_subagent", "blue"}, 0);
  story.tell_root(Attached{SessionId("sess_a")}, 0);
  story.tell_child("a", QuestionAnswered{"q1", {AnswerKind::text, "blue"}});
  story.tell_child("a", RunEnded{Report{}});
  story.take_out();
  story.finish_call(0, ToolStatus::ok, "its report");
  EXPECT_EQ(story.take_out(), "\n✓ answer_subagent q1\n");
}

// Two calls of one reply that ask.
TEST_F(Chat, TheLineOfTheRootNamesWhatIsAskedAndWhatIsUnderWay) {
  const auto ask_for = [this](int call, const std::string& text) {
    Question question{.id = fmt::format("q{}", call),
                      .asker = story.root,
                      .label = "main",
                      .agent = "main",
                      .text = text,
                      .suggestions = {}};
    story.tell_root(QuestionAsked{std::move(question)}, call);
  };
  const auto approve = [this](int call) {
    story.tell_root(QuestionAnswered{fmt::format("q{}", call), {AnswerKind::approved, ""}}, call);
    story.tell_root(CallStarted{"task", fmt::format("[explore] number {}", call)}, call);
  };
  story.begin("go");
  story.reply("Two.", {{"1", "task", "{}"}, {"2", "task", "{}"}});
  ask_for(0, "Spawn the first");
  ask_for(1, "Spawn the second");
  EXPECT_THAT(story.screen(80), HasSubstr("→ asks: Spawn the first")) << "as the question below it";
  approve(0);
  EXPECT_THAT(story.screen(80), HasSubstr("→ asks: Spawn the second"));
  approve(1);
  EXPECT_THAT(story.screen(80), HasSubstr("→ task [explore] number 1"));
  story.finish_call(1, ToolStatus::ok, "done");
  EXPECT_THAT(story.screen(80), HasSubstr("→ task [explore] number 0")) << "the other goes on";
  story.finish_call(0, ToolStatus::ok, "done");
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("→ thinking"), Not(HasSubstr("→ task"))));
}

TEST_F(Chat, AQuestionWhoseCallHasEndedWithoutAnAnswerIsNotAskedAnyMore) {
  story.begin("go");
  story.reply("", {{"1", "ask_user", "{}"}});
  story.tell_root(CallStarted{"ask_user", ""}, 0);
  story.tell_root(QuestionAsked{{.id = "q",
                                 .asker = story.root,
                                 .label = "main",
                                 .agent = "main",
                                 .text = "Which?",
                                 .suggestions = {}}},
                  0);
  EXPECT_THAT(story.screen(80), HasSubstr("→ asks: Which?")) << "control";
  story.finish_call(0, ToolStatus::error, "stopped");
  EXPECT_THAT(story.screen(80), Not(HasSubstr("→ asks")));
}

TEST_F(Chat, AReplyIsNotSaidTwiceWhileItsChildrenGoOn) {
  story.begin("go");
  story.child("a");
  story.reply("Done with it all.");
  story.tell_root(StateChanged{SessionState::waiting, "for its children", "sess_a"});
  EXPECT_THAT(story.take_out(), HasSubstr("Done with it all."));
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("→ waits for its children"), Not(HasSubstr("Done with"))));
  story.tell_root(StateChanged{SessionState::running, ""});
  EXPECT_THAT(story.screen(80), HasSubstr("→ thinking"));
  story.tell_root(CallStarted{"Delegate", "3 tasks"}, 0);
  story.tell_root(StateChanged{SessionState::waiting, "for its children", "sess_a"});
  EXPECT_THAT(story.screen(80), HasSubstr("→ Delegate 3 tasks")) << "what it waits in";
}

TEST_F(Chat, AnApprovalNamesWhoAsksAndWhatWillRun) {
  story.begin("go");
  story.ask("survey", "Run in /w:\nrm -rf build", {"Bash(rm -rf build)"});
  ASSERT_TRUE(is_open(story.state.dialog));
  EXPECT_EQ(story.state.dialog.waiting.front().label, "survey");
  const auto screen = story.screen(80);
  EXPECT_THAT(screen, HasSubstr("[survey] asks for approval"));
  EXPECT_THAT(screen, HasSubstr("rm -rf build"));
}

// Of so many lines, each with its number.
std::string script_of(int lines) {
  std::string text = "Run in /w:";
  for (int line = 1; line < lines; ++line) text += fmt::format("\nstep {}.", line);
  return text;
}

TEST_F(Chat, AnApprovalThatTheScreenCannotShowWholeStandsInTheScrollbackBeforeItIsAsked) {
  story.state.size = {80, 24};
  story.begin("go");
  story.take_out();
  // 22 rows above the status line: one for the heading, four for the choices, one for words.
  story.ask("survey", script_of(16), {"Bash(x)"});
  EXPECT_THAT(story.take_out(), IsEmpty()) << "the screen shows all of it";
  story.pass(kTooSoon);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("step 8."), HasSubstr("(n)")));
  type("y");

  story.ask("survey", script_of(17), {"Bash(x)"});
  const auto above = story.take_out();
  EXPECT_THAT(above, HasSubstr("[survey] asks for approval\n  Run in /w:\n  step 1.\n"));
  for (int line = 1; line < 17; ++line) EXPECT_THAT(above, HasSubstr(fmt::format("step {}.\n", line)));
  story.pass(kTooSoon);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("more lines: all of it stands above"), HasSubstr("step 16."),
                                      HasSubstr("(n)")));
  EXPECT_TRUE(only<GiveAnswer>(type("y")));
  EXPECT_THAT(story.take_out(), IsEmpty()) << "once";
}

TEST_F(Chat, NoKeyAnswersWhatTheTerminalHasNotTaken) {
  story.begin("go");
  story.ask("survey", "Run", {});
  hold_back(story.state);
  story.pass(std::chrono::minutes(1));
  EXPECT_FALSE(only<GiveAnswer>(type("y")));
  was_taken(story.state);
  EXPECT_FALSE(only<GiveAnswer>(type("y")));
  story.pass(kTooSoon);
  hold_back(story.state);  // of something else: the question was read
  EXPECT_TRUE(only<GiveAnswer>(type("y")));

  story.ask("survey", "Run something else", {});
  hold_back(story.state);
  story.pass(std::chrono::minutes(1));
  EXPECT_FALSE(only<GiveAnswer>(type("y"))) << "each by itself";
}

TEST_F(Chat, OfWhatTheTerminalDoesNotTakeTheNewestLinesWait) {
  story.take_out();
  print(story.state, std::vector<Line>(kMostHeldBack - 1, line_of("old")));
  print(story.state, {line_of("newest")});
  hold_back(story.state);
  EXPECT_THAT(story.state.out, SizeIs(kMostHeldBack)) << "there is room for it";
  for (int more = 0; more < 2; ++more) {
    print(story.state, {line_of("newer")});
    hold_back(story.state);
  }
  EXPECT_THAT(story.state.out, SizeIs(kMostHeldBack));
  const std::vector<Line> lines = take_out(story.state);
  ASSERT_THAT(lines, SizeIs(kMostHeldBack + 1));
  EXPECT_THAT(plain_text(lines.front()), HasSubstr("2 lines are left out here"));
  EXPECT_THAT(plain_text(lines.front()), ::testing::Not(HasSubstr("all of it")));
  EXPECT_EQ(plain_text(lines.back()), "newer");
  EXPECT_THAT(take_out(story.state), IsEmpty());
}

TEST_F(Chat, AnApprovalThatWaitedBehindAnotherIsShownWholeWhenItsTurnComes) {
  story.state.size = {80, 24};
  story.begin("go");
  story.ask("a", "Run", {});
  story.ask("b", script_of(40), {});
  story.take_out();
  story.pass(kTooSoon);
  type("y");
  EXPECT_THAT(story.take_out(), AllOf(HasSubstr("[b] asks for approval"), HasSubstr("step 20.\n")));
}

TEST_F(Chat, WhereTheWindowHasBecomeTooSmallAKeyShowsAllOfItAndAnswersNothing) {
  story.state.size = {80, 60};
  story.begin("go");
  story.ask("survey", script_of(40), {});
  story.take_out();
  story.pass(kTooSoon);
  EXPECT_THAT(story.screen(80, 24), HasSubstr("any key shows them"));
  EXPECT_THAT(type("y"), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("step 20.\n"));
  story.pass(kTooSoon);
  EXPECT_TRUE(only<GiveAnswer>(type("y")));
}

TEST_F(Chat, AKeyTypedBeforeTheQuestionCouldBeReadDoesNotAnswerIt) {
  story.begin("go");
  story.ask("survey", "Run", {});
  EXPECT_THAT(type("y"), IsEmpty());
  EXPECT_TRUE(is_open(story.state.dialog));
  EXPECT_THAT(story.screen(80), Not(HasSubstr("(y)"))) << "nor are the keys offered";
  story.pass(kTooSoon);
  EXPECT_THAT(story.screen(80), HasSubstr("(y)"));
  const auto intents = type("y");
  ASSERT_TRUE(only<GiveAnswer>(intents));
  EXPECT_EQ(only<GiveAnswer>(intents)->answer.kind, AnswerKind::approved);
}

TEST_F(Chat, WordsThatAreTypedAtAnApprovalApproveNothing) {
  story.begin("go");
  story.ask("a", "Run ls", {"Bash(ls)"});
  story.pass(kTooSoon);
  for (const char letter : std::string_view("what is this, always my say")) {
    EXPECT_THAT(type(std::string(1, letter)), IsEmpty()) << letter;
    story.pass(kTooSoon - std::chrono::milliseconds(1));
  }
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_TRUE(is_open(story.state.dialog));
  story.pass(kTooSoon);
  EXPECT_TRUE(only<GiveAnswer>(type("y"))) << "a key by itself";
}

TEST_F(Chat, AnApprovalForTheSessionAnswersTheSameAgain) {
  story.begin("go");
  story.ask("a", "Run ls", {"Bash(ls)"});
  story.pass(kTooSoon);
  type("s");
  ASSERT_TRUE(only<GiveAnswer>(key(KeyName::enter)));
  const auto again = story.ask("b", "Run ls", {"Bash(ls)"});
  ASSERT_TRUE(only<GiveAnswer>(again));
  EXPECT_FALSE(is_open(story.state.dialog));
  EXPECT_THAT(story.ask("b", "Run rm", {"Bash(rm)"}), IsEmpty());
  EXPECT_TRUE(is_open(story.state.dialog));
}

TEST_F(Chat, AnApprovalForAlwaysAlsoWritesTheRule) {
  story.begin("go");
  story.ask("a", "Run ls", {"Bash(ls)"});
  story.pass(kTooSoon);
  EXPECT_THAT(type("a"), IsEmpty()) << "one letter is not enough for that";
  const auto intents = key(KeyName::enter);
  ASSERT_THAT(intents, SizeIs(2));
  EXPECT_EQ(std::get<WriteRule>(intents[0]).rule, "Bash(ls)");
  EXPECT_EQ(std::get<GiveAnswer>(intents[1]).answer.kind, AnswerKind::approved);
}

TEST_F(Chat, WhatCannotBeSaidAsARuleIsApprovedOnceOnly) {
  story.begin("go");
  story.ask("a", "Run ls *", {});
  story.pass(kTooSoon);
  EXPECT_THAT(type("s"), IsEmpty());
  EXPECT_THAT(type("a"), IsEmpty());
  EXPECT_TRUE(is_open(story.state.dialog));
}

TEST_F(Chat, ARefusalCarriesItsReason) {
  story.begin("go");
  story.ask("a", "Run", {});
  story.pass(kTooSoon);
  EXPECT_THAT(type("n"), IsEmpty());
  type("use git clean");
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(intents));
  EXPECT_EQ(only<GiveAnswer>(intents)->answer, (Answer{AnswerKind::refused, "use git clean"}));
}

TEST_F(Chat, SuggestionsAreChoices) {
  story.begin("go");
  story.ask("a", "Which?", {"tabs", "spaces"}, QuestionKind::to_person);
  story.pass(kTooSoon);
  const auto intents = type("2");
  ASSERT_TRUE(only<GiveAnswer>(intents));
  EXPECT_EQ(only<GiveAnswer>(intents)->answer, (Answer{AnswerKind::text, "spaces"}));
  story.ask("a", "Which?", {"tabs"}, QuestionKind::to_person);
  story.pass(kTooSoon);
  key(KeyName::down);
  key(KeyName::enter);
  type("neither");
  const auto own = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(own));
  EXPECT_EQ(only<GiveAnswer>(own)->answer.text, "neither");
}

// To the person, by the root.
QuestionAsked asked_by_root(const ChatStory& story, std::string text) {
  return {{.id = "main's",
           .kind = QuestionKind::to_person,
           .asker = story.root,
           .label = "main",
           .agent = "main",
           .text = std::move(text),
           .suggestions = {}}};
}

TEST_F(Chat, AQuestionAndItsAnswerStayInTheScrollback) {
  story.begin("paint");
  story.tell_root(asked_by_root(story, "Which colour\x1b[8m?\nIt must last."), 0);
  story.pass(kTooSoon);
  type("green, because");
  ASSERT_TRUE(only<GiveAnswer>(key(KeyName::enter)));
  story.take_out();
  story.tell_root(QuestionAnswered{"main's", {AnswerKind::text, "green,\x1b[2J because", Source::person}}, 0);
  EXPECT_EQ(story.take_out(), "\n[main] asks: Which colour␛[8m?\n  It must last.\n❯ green,␛[2J because\n");
  story.tell_root(QuestionAnswered{"main's", {AnswerKind::text, "red", Source::person}}, 0);
  EXPECT_EQ(story.take_out(), "") << "once";
}

TEST_F(Chat, OfALongQuestionAPartStaysInTheScrollback) {
  const auto told = [this](int lines) {
    std::string text = "line 1";
    for (int line = 2; line <= lines; ++line) text += fmt::format("\nline {}", line);
    story.state.size = {80, 60};
    story.tell_root(asked_by_root(story, text), 0);
    story.take_out();
    story.tell_root(QuestionAnswered{"main's", {AnswerKind::nobody, "nobody is here"}}, 0);
    return story.take_out();
  };
  story.begin("go");
  EXPECT_THAT(told(12), AllOf(HasSubstr("[main] asks: line 1\n"), HasSubstr("\n  line 12\n"),
                              HasSubstr("\n  not answered: nobody is here\n"), Not(HasSubstr("more"))));
  EXPECT_THAT(told(13), AllOf(HasSubstr("\n  line 11\n  … 2 more lines\n"), Not(HasSubstr("line 12"))));
}

TEST_F(Chat, AQuestionThatStandsInTheScrollbackWholeIsNotPrintedThereAgainWithItsAnswer) {
  story.state.size = {80, 24};
  story.begin("paint");
  story.take_out();
  story.tell_root(asked_by_root(story, script_of(40)), 0);
  EXPECT_THAT(story.take_out(), HasSubstr("step 39."));
  story.pass(kTooSoon);
  type("green");
  ASSERT_TRUE(only<GiveAnswer>(key(KeyName::enter)));
  story.ask("a", script_of(41), {"Bash(x)"});  // printed between
  story.take_out();
  story.tell_root(QuestionAnswered{"main's", {AnswerKind::text, "green", Source::person}}, 0);
  EXPECT_EQ(story.take_out(), "\n[main] asked what stands above:\n❯ green\n");
  EXPECT_THAT(story.state.dialog.told_whole, testing::ElementsAre("q1")) << "which has no answer yet";
}

TEST_F(Chat, AQuestionThatIsAnsweredFromElsewhereStaysInTheScrollbackToo) {
  story.begin("paint");
  story.tell_root(asked_by_root(story, "Which colour?"), 0);
  story.take_out();
  story.tell_root(QuestionAnswered{"main's", {AnswerKind::text, "red", Source::person}}, 0);
  const std::string told = story.take_out();
  EXPECT_THAT(told, AllOf(HasSubstr("[main] asks: Which colour?\n"),
                          HasSubstr("[main] was answered from elsewhere: red\n"), Not(HasSubstr("❯"))));
}

TEST_F(Chat, WhatAChildAskedAndWasAnsweredIsReadByWhoFollowsIt) {
  story.begin("go");
  story.child("a");
  for (const auto kind : {QuestionKind::to_parent, QuestionKind::to_person}) {
    story.ask("a", fmt::format("Red or blue, {}?", name_of(kind)), {}, kind);
    story.tell_child("a",
                     QuestionAnswered{fmt::format("q{}", story.questions),
                                      {AnswerKind::text, fmt::format("blue\x1b[2J, {}", name_of(kind))}});
  }
  story.ask("a", "Run ls", {});
  story.tell_child("a", QuestionAnswered{"q3", {AnswerKind::approved, ""}});
  key(KeyName::tab);
  const std::string screen = story.screen(80);
  for (const auto kind : {QuestionKind::to_parent, QuestionKind::to_person}) {
    EXPECT_THAT(screen, HasSubstr(fmt::format("│ asks: Red or blue, {}?\n", name_of(kind))));
    EXPECT_THAT(screen, HasSubstr(fmt::format("│ answered: blue␛[2J, {}\n", name_of(kind))));
  }
  EXPECT_THAT(screen, Not(HasSubstr("│ approved"))) << "the call that follows says so";
}

TEST_F(Chat, AnAnswerThatIsTypedIsOneThoughThereAreChoices) {
  story.begin("go");
  story.ask("a", "Delete the old data?", {"yes, delete it", "keep it"}, QuestionKind::to_person);
  story.pass(kTooSoon);
  EXPECT_TRUE(type("keep it").empty());
  const auto typed = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(typed));
  EXPECT_EQ(only<GiveAnswer>(typed)->answer, (Answer{AnswerKind::text, "keep it"}));
}

TEST_F(Chat, WhatIsPastedIsAnAnswerInWordsAndApprovesNothing) {
  story.begin("go");
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  EXPECT_THAT(key(KeyName::paste, "y"), IsEmpty());
  EXPECT_TRUE(is_open(story.state.dialog));
  story.pass(kTooSoon);
  EXPECT_TRUE(only<GiveAnswer>(type("y")));

  story.ask("a", "Which?", {"tabs", "spaces"}, QuestionKind::to_person);
  story.pass(kTooSoon);
  EXPECT_THAT(key(KeyName::paste, "1"), IsEmpty()) << "no choice";
  key(KeyName::paste, "00\ncolumns");
  const auto pasted = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(pasted));
  EXPECT_EQ(only<GiveAnswer>(pasted)->answer, (Answer{AnswerKind::text, "100\ncolumns"}));
}

TEST_F(Chat, WhoTypesOnAnswersNothing) {
  story.begin("go");
  story.ask("a", "Write new.txt", {"Write(new.txt)"});
  for (int letter = 0; letter < 10; ++letter) {
    story.pass(kTooSoon / 2);
    EXPECT_TRUE(type("y").empty());
  }
  story.pass(kTooSoon);
  EXPECT_TRUE(only<GiveAnswer>(type("y")));
}

TEST_F(Chat, EachOfTenSuggestionsHasAKeyOfItsOwn) {
  const std::vector<std::string> ten{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  for (const auto& [typed, meant] : {std::pair("9", "i"), std::pair("0", "j")}) {
    story.ask("a", "Which?", ten, QuestionKind::to_person);
    story.pass(kTooSoon);
    const auto intents = type(typed);
    ASSERT_TRUE(only<GiveAnswer>(intents)) << typed;
    EXPECT_EQ(only<GiveAnswer>(intents)->answer.text, meant);
  }
}

TEST_F(Chat, AQuestionThatWasSettledElsewhereGoesAway) {
  story.begin("go");
  story.ask("a", "Run", {});
  story.answer_last();
  EXPECT_FALSE(is_open(story.state.dialog));
}

TEST_F(Chat, ACompactionIsAnnouncedAndSoIsItsUndoing) {
  story.begin("hi");
  story.reply("Hello.", {}, {.input = 90'000, .output = 10});
  story.take_out();
  Reply summary;
  summary.message = {.role = Role::assistant, .text = "we said hello"};
  story.tell_root(Compacted{summary, 2});
  const std::string told = story.take_out();
  EXPECT_THAT(told, HasSubstr("summary stands for the first 2 messages"));
  EXPECT_THAT(told, HasSubstr("/compact undo"));
  EXPECT_THAT(story.screen(160), Not(HasSubstr("context"))) << "nobody has counted it yet";
  story.tell_root(RunStarted{.task = RunTask::undo_compaction});
  EXPECT_THAT(story.take_out(), HasSubstr("Compaction undone"));
  summary.stop = ReplyStop::calls;
  story.tell_root(Compacted{summary, 2});
  EXPECT_THAT(story.take_out(), HasSubstr("Not compacted: the model asked for tools"));
}

TEST_F(Chat, WhatIsAnsweredFromElsewhereIsClosedHereAndThatIsSaid) {
  story.begin("go");
  story.child("a");
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  story.take_out();
  EXPECT_THAT(story.screen(80), HasSubstr("asks for approval"));
  story.tell_child("a", QuestionAnswered{"q1", {AnswerKind::refused, "not here", Source::person}});
  EXPECT_THAT(story.take_out(), HasSubstr("[a] was declined from elsewhere: not here"));
  EXPECT_THAT(story.screen(80), Not(HasSubstr("asks")));
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  type("y");
  story.tell_child("a", QuestionAnswered{"q2", {AnswerKind::approved, "", Source::person}});
  EXPECT_THAT(story.take_out(), Not(HasSubstr("elsewhere"))) << "it was answered here";
}

TEST_F(Chat, TheTreeSaysWhatBecameOfAQuestion) {
  story.begin("go");
  story.child("a");
  for (const auto& [kind, word] :
       {std::pair(AnswerKind::approved, "→ approved"), std::pair(AnswerKind::refused, "→ declined"),
        std::pair(AnswerKind::text, "→ answered"), std::pair(AnswerKind::nobody, "→ not answered")}) {
    story.ask("a", "Run ls", {});
    EXPECT_THAT(story.screen(80), HasSubstr("? asks: Run ls"));
    story.tell_child("a", QuestionAnswered{fmt::format("q{}", story.questions), {kind, ""}});
    EXPECT_THAT(story.screen(80), AllOf(HasSubstr(word), Not(HasSubstr("asks: Run ls"))));
  }
}

TEST_F(Chat, ThatItCompactsIsSaidWhileItDoesAndWhatCameOfItAfterwards) {
  story.begin("hi");
  story.reply("Hello.", {}, {.input = 90'000, .output = 10});
  story.take_out();
  apply_summary_asked(story.state, story.root, 90'010);
  EXPECT_THAT(story.take_out(), AllOf(HasSubstr("Compacting"), HasSubstr("90k tokens"), HasSubstr("Ctrl-C")));
  EXPECT_THAT(story.screen(40), HasSubstr("compacting its conversation"));
  Reply summary;
  summary.message = {.role = Role::assistant, .text = "we said hello"};
  summary.usage = {.input = 90'400, .output = 1'200};
  story.tell_root(Compacted{summary, 2});
  EXPECT_THAT(story.take_out(),
              AllOf(HasSubstr("90k tokens were read"), HasSubstr("it has 1.2k"), HasSubstr("/compact undo")));
  EXPECT_THAT(story.screen(80), Not(HasSubstr("compacting")));
}

TEST_F(Chat, ThatAChildCompactsStandsBesideItsName) {
  story.begin("hi");
  story.child("a");
  story.take_out();
  apply_summary_asked(story.state, SessionId("sess_a"), 5'000);
  EXPECT_EQ(story.take_out(), "");
  EXPECT_THAT(story.screen(160), HasSubstr("compacting its conversation"));
}

TEST_F(Chat, ASummaryThatWasAskedForWithTooMuchCanBeAskedForWithLess) {
  story.begin("hi");
  story.take_out();
  Reply reply;
  reply.stop = ReplyStop::context_exhausted;
  reply.error = "it does not fit";
  story.tell_root(Compacted{reply, 1});
  EXPECT_THAT(story.take_out(),
              AllOf(HasSubstr("Not compacted: it does not fit"), HasSubstr("/compact tries")));
}

TEST_F(Chat, WhatAChildDidLastIsNoCompactionWhereThereWasNoSummary) {
  story.begin("hi");
  story.child("a");
  Reply summary;
  summary.message = {.role = Role::assistant, .text = "we said hello"};
  story.tell_child("a", Compacted{summary, 2});
  EXPECT_THAT(story.screen(160), HasSubstr("compacted its conversation"));
  summary.stop = ReplyStop::failed;
  story.tell_child("a", Compacted{summary, 2});
  EXPECT_THAT(story.screen(160), HasSubstr("could not be compacted"));
}

TEST_F(Chat, TheModelThatIsChosenWhileSomethingRunsStandsThereOnceThatHasEnded) {
  story.begin("go");
  story.reply("Hello.", {}, {.input = 45'000, .output = 2'000});
  show_model(story.state, {"scripted/other", 470'000});
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("scripted/test · context 47%"), Not(HasSubstr("other"))));
  show_model(story.state, {"scripted/another", 470'000});
  story.tell_root(RunEnded{});
  EXPECT_THAT(story.screen(80), HasSubstr("scripted/another · context 10%"));
  show_model(story.state, {"scripted/test", 100'000});
  EXPECT_THAT(story.screen(80), HasSubstr("scripted/test")) << "nothing runs";
}

TEST_F(Chat, TheStatusLineDropsWhatCountsLeastAndCutsNothing) {
  story.state.model.name = "anthropic/claude-sonnet-4-5";
  const auto status = [this](int columns) {
    const std::string screen = story.screen(columns);
    const auto lines = lines_of(screen);
    return std::string(lines.at(lines.size() - (columns < 60 ? 2 : 1)));  // the keys stand below it
  };
  EXPECT_EQ(status(40), "anthropic/claude-sonnet-4-5");
  story.begin("hi");
  story.reply("Hello.", {}, {.input = 45'000, .output = 2'000, .cost_micros = 190'000});
  EXPECT_EQ(status(40), "claude-sonnet-4-5 · context 47%");
  EXPECT_EQ(status(45), "claude-sonnet-4-5 · context 47% · $0.1900");
  EXPECT_THAT(status(80),
              ::testing::StartsWith("claude-sonnet-4-5 · context 47% · in=45k out=2k · $0.1900  "));
  EXPECT_THAT(status(160), HasSubstr("anthropic/claude-sonnet-4-5 · context 47% · in=45k out=2k · $0.1900"));
}

TEST_F(Chat, AtFortyColumnsTheKeysRemainEachWithItsWord) {
  EXPECT_THAT(story.screen(40), HasSubstr("\n/help\n"));
  story.begin("hi");
  EXPECT_THAT(story.screen(40), HasSubstr("\nCtrl-C cancels\n"));
  story.child("a");
  EXPECT_THAT(story.screen(40), HasSubstr("\nTab: children  Ctrl-C cancels\n"));
  key(KeyName::tab);
  EXPECT_THAT(story.screen(40), HasSubstr("\nn nudge  b background  c cancel\nEsc back\n")) << "the only one";
  story.child("b");
  EXPECT_THAT(story.screen(40), HasSubstr("\n↑↓ choose  n nudge  b background\nc cancel  Esc back\n"));
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  EXPECT_THAT(story.screen(40), HasSubstr("\na answer  n nudge  b background\nc cancel  Esc back\n"));
  type("a");
  EXPECT_THAT(story.screen(40), HasSubstr("\nEnter answers it in its parent's place\nEsc back\n"));
}

// Each key that is named does something then, and what does nothing is not named.
TEST_F(Chat, NoKeyIsNamedThatDoesNothing) {
  type("half");
  EXPECT_THAT(story.screen(40), AllOf(HasSubstr("\nEnter sends\n"), Not(HasSubstr("/help"))));
  story.begin("hi");
  story.child("a");
  EXPECT_THAT(story.screen(40), HasSubstr("\nEnter sends  Ctrl-C cancels\n")) << "Tab completes there";
  set_text(story.state.input, "");
  type("/");
  EXPECT_THAT(story.screen(40), HasSubstr("\nTab takes it  ↑↓ choose  Esc closes\n"));
  type("mod");
  EXPECT_THAT(story.screen(40), HasSubstr("\nTab takes it  Esc closes\n"));
  key(KeyName::escape);
  set_text(story.state.input, "");

  key(KeyName::tab);
  story.tell_root(Detached{SessionId("sess_a")});
  EXPECT_THAT(story.screen(40), HasSubstr("\nn nudge  c cancel  Esc back\n")) << "it is in the background";
  type("nx");
  EXPECT_THAT(story.screen(40), HasSubstr("\nEnter nudges it  Esc back\n"));
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(story.screen(40), HasSubstr("\nEsc back\n")) << "nobody is there to be nudged";
  key(KeyName::escape);
  EXPECT_THAT(story.screen(40), HasSubstr("\nEsc back\n")) << "there is nothing to scroll";
  for (int file = 0; file < 12; ++file) story.call_of_child("Read", fmt::format("file{}.txt", file));
  EXPECT_THAT(story.screen(40), HasSubstr("\nPgUp scroll  Esc back\n"));
  key(KeyName::page_up);
  EXPECT_GT(story.state.scrolled, 0u);
}

TEST_F(Chat, WhileAnAnswerIsWrittenNoChoiceIsNamedThatItsKeyWouldNotTake) {
  story.begin("hi");
  story.ask("a", "Run ls", {"Bash(ls)"});
  story.pass(kTooSoon);
  EXPECT_THAT(story.screen(40), AllOf(HasSubstr("(y) yes"), HasSubstr("\n↑↓ Enter choose  Tab: children\n")));
  type("n");
  EXPECT_THAT(story.screen(40),
              AllOf(HasSubstr("\nreason: \nEnter declines  Esc back\n"), Not(HasSubstr("(y)"))));
  key(KeyName::escape);
  EXPECT_THAT(story.screen(40), HasSubstr("(y) yes"));
  type("y");
  story.ask("a", "Which?", {"red"}, QuestionKind::to_person);
  story.pass(kTooSoon);
  EXPECT_THAT(story.screen(40), HasSubstr("\n↑↓ Enter choose  Tab: children\n"));
  type("w");
  EXPECT_THAT(story.screen(40), HasSubstr("\nanswer: \nEsc back\n")) << "there is nothing to answer with yet";
  type("blue");
  EXPECT_THAT(story.screen(40), HasSubstr("\nanswer: blue\nEnter answers  Esc back\n"));
  key(KeyName::enter);
  story.ask("a", "Which?", {}, QuestionKind::to_person);
  story.pass(kTooSoon);
  EXPECT_THAT(story.screen(40), HasSubstr("\nTab: children\n")) << "there is nothing to choose from";
}

TEST_F(Chat, ALongReasonStaysInSightOnAnyScreen) {
  story.begin("hi");
  story.ask("a", script_of(40), {"Bash(ls)"});
  story.pass(kTooSoon);
  type("n");
  type(std::string(200, 'x') + "end");
  for (const int rows : {5, 8, 24}) {
    EXPECT_THAT(story.screen(40, rows), HasSubstr("end\n")) << rows;
    const Frame frame = frame_of(story.state);
    EXPECT_LE(frame.lines.size(), static_cast<std::size_t>(rows));
    ASSERT_LT(frame.cursor_row, frame.lines.size()) << rows;
    EXPECT_THAT(plain_text(frame.lines.at(frame.cursor_row)), HasSubstr("end")) << rows;
  }
}

TEST_F(Chat, ANoticeIsWrappedWhereItDoesNotFitAndIsNotCut) {
  story.begin("hi");
  key(KeyName::control, "c");
  for (const int columns : {40, 60, 80}) {
    std::string screen = story.screen(columns);
    std::ranges::replace(screen, '\n', ' ');
    EXPECT_THAT(screen, HasSubstr("cancelling; what was found is kept (again within 2 s to leave)"))
        << columns;
  }
}

TEST_F(Chat, AVerySmallScreenKeepsTheLineThatIsTypedAndWhatFitsOfTheKeys) {
  story.begin("hi");
  story.child("a");
  key(KeyName::tab);
  for (const int rows : {2, 3, 4, 5}) {
    story.state.size = {20, rows};
    const Frame frame = frame_of(story.state);
    EXPECT_LE(frame.lines.size(), static_cast<std::size_t>(rows));
    EXPECT_LT(frame.cursor_row, frame.lines.size()) << rows;
    EXPECT_EQ(plain_text(frame.lines.at(frame.cursor_row)), "❯ ") << rows;
  }
}

TEST_F(Chat, ForeignTextReachesTheScreenWithoutItsEscapes) {
  story.begin("\x1b[2Jhi");
  story.child("evil\x1b]0;x\x07");
  story.call_of_child("Read", "a\x1b[31m");
  story.ask("\x1b[5mwho", "Run \x1b[8mhidden", {"Bash(\x1b[1m)"});
  story.pass(kTooSoon);
  story.reply(
      "\x1b[2J\x9b"
      "1m**bold**");
  const std::string all = story.take_out() + story.screen(80);
  EXPECT_THAT(all, Not(HasSubstr("\x1b")));
  EXPECT_THAT(all, Not(HasSubstr("\x07")));
  EXPECT_THAT(all, HasSubstr("␛"));
}

}  // namespace
}  // namespace deputy
