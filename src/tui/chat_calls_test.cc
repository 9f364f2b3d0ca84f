// What the chat shows of calls: their lines while they run and when they have ended, and what their children
// came to.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <tuple>

#include "tui/chat_frame.h"
#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Chat = ChatPlay;

TEST(WhatFollows, AnAttemptIsAnotherUnlessThereIsNoRoomForIt) {
  EXPECT_EQ(what_follows({.attempt = 2, .wait = std::chrono::seconds(3)}), "retry 2 in 3s");
  EXPECT_EQ(what_follows({.attempt = 2, .is_last = true}), "attempt 2 failed");
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

TEST_F(Chat, TasksThatHaveNoChildYetAreCountedBelowTheTree) {
  story.begin("go");
  story.reply("", {{"1", "Delegate", R"({"tasks":[{},{},{},{}]})"}});
  story.start_child("Delegate", 0, "a");
  EXPECT_THAT(story.screen(80), HasSubstr("\n  (3 not begun yet)\n"));
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(story.screen(80), HasSubstr("(3 not begun yet)")) << "what has ended had begun";
  story.start_child("Delegate", 0, "b");
  story.start_child("Delegate", 0, "c");
  const auto tight = tree_lines(story.state.tree, story.root, {.rows = 3});
  ASSERT_EQ(tight.size(), 3U);
  EXPECT_EQ(plain_text(tight.back()), "  (1 more; 1 not begun yet)");
  EXPECT_EQ(tree_lines(story.state.tree, story.root, {.rows = 1}).size(), 1U) << "the only row is a child's";
  story.start_child("Delegate", 0, "d");
  EXPECT_THAT(story.screen(80), Not(HasSubstr("not begun")));
}

TEST_F(Chat, ATaskThatNeverHadAChildIsNotWaitedForOnceItsCallHasEnded) {
  story.begin("go");
  story.reply("", {{"1", "Delegate", R"({"tasks":[{},{}]})"}});
  story.start_child("Delegate", 0, "a");
  EXPECT_EQ(not_begun(story.state.tree), 1U);
  story.finish_call(0, ToolStatus::ok, "## Subagents complete");
  EXPECT_EQ(not_begun(story.state.tree), 0U);
}

TEST_F(Chat, ACallThatGaveItsChildToTheBackgroundIsNotMarkedDoneAndTheTreeSaysSo) {
  story.begin("go");
  story.reply("", {{"1", "task", R"({"description":"cart look"})"}});
  story.start_child("task", 0, "a");
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
  story.start_child("task", 0, "a");
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

}  // namespace
}  // namespace deputy
