// What keys do beside the lines of the chat: stop, leave, and are for nobody where a question closes.
#include <gmock/gmock.h>

#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using ChatKeys = ChatPlay;

TEST_F(ChatKeys, CtrlCCancelsWhatRunsAndASecondOneSoonLeaves) {
  story.begin("go");
  EXPECT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
  story.pass(std::chrono::milliseconds(1999));
  const auto intents = key(KeyName::control, "c");
  ASSERT_TRUE(only<LeaveChat>(intents));
  EXPECT_TRUE(only<LeaveChat>(intents)->at_once);
}

TEST_F(ChatKeys, CtrlCTwiceLeavesAtOnceWhetherOrNotSomethingRuns) {
  story.begin("go");
  key(KeyName::control, "c");
  story.tell_root(RunEnded{Report{}});
  const auto intents = key(KeyName::control, "c");
  ASSERT_TRUE(only<LeaveChat>(intents));
  EXPECT_TRUE(only<LeaveChat>(intents)->at_once);
  story.pass(std::chrono::seconds(3));
  key(KeyName::control, "c");
  const auto idle = key(KeyName::control, "c");
  ASSERT_TRUE(only<LeaveChat>(idle));
  EXPECT_TRUE(only<LeaveChat>(idle)->at_once);
}

TEST_F(ChatKeys, CtrlCAfterAWhileCancelsAgain) {
  story.begin("go");
  key(KeyName::control, "c");
  story.pass(std::chrono::milliseconds(2001));
  EXPECT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
}

TEST_F(ChatKeys, CtrlCOnAnIdleChatEmptiesTheLineThenLeaves) {
  type("half");
  EXPECT_THAT(key(KeyName::control, "c"), IsEmpty());
  EXPECT_EQ(story.state.input.text, "");
  EXPECT_THAT(key(KeyName::control, "c"), IsEmpty());
  EXPECT_THAT(story.screen(80), HasSubstr("Ctrl-C twice within 2 s leaves")) << "true however long it stands";
  EXPECT_TRUE(only<LeaveChat>(key(KeyName::control, "c")));
}

TEST_F(ChatKeys, CtrlCCancelsWhatRunsWhateverStandsInTheLineWhichStays) {
  story.begin("go");
  type("half");
  EXPECT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
  EXPECT_EQ(story.state.input.text, "half");
  const auto intents = key(KeyName::control, "c");
  ASSERT_TRUE(only<LeaveChat>(intents));
  EXPECT_TRUE(only<LeaveChat>(intents)->at_once);
}

TEST_F(ChatKeys, TheSecondCtrlCLeavesAlsoWhereAllHasEndedAndTheLineIsNotEmpty) {
  story.begin("go");
  type("half");
  key(KeyName::control, "c");
  story.tell_root(RunEnded{Report{}});
  story.pass(std::chrono::milliseconds(2000));
  EXPECT_TRUE(only<LeaveChat>(key(KeyName::control, "c")));
}

TEST_F(ChatKeys, ALaterCtrlCEmptiesTheLineThatStayed) {
  story.begin("go");
  type("half");
  key(KeyName::control, "c");
  story.tell_root(RunEnded{Report{}});
  story.pass(std::chrono::milliseconds(2001));
  EXPECT_THAT(key(KeyName::control, "c"), IsEmpty());
  EXPECT_EQ(story.state.input.text, "");
}

TEST_F(ChatKeys, CtrlCWorksWhileAQuestionIsOpen) {
  story.begin("go");
  type("half");  // a line that the question hides
  story.ask("a", "Run", {});
  EXPECT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
}

// As where the program was stopped, and a shell had the keys.
TEST_F(ChatKeys, AfterOthersHadTheScreenNoKeyAnswersUntilTheQuestionIsShownAgain) {
  story.begin("go");
  story.ask("a", "Run", {});
  was_taken(story.state);
  story.pass(kTooSoon);
  ASSERT_TRUE(is_ready(story.state.dialog, story.state.now)) << "control";
  hide(story.state.dialog);
  EXPECT_THAT(key(KeyName::text, "y"), IsEmpty());
  story.pass(std::chrono::seconds(10));
  EXPECT_THAT(key(KeyName::text, "y"), IsEmpty()) << "however long it lasts";
  was_taken(story.state);
  EXPECT_THAT(key(KeyName::text, "y"), IsEmpty()) << "typed ahead";
  story.pass(kTooSoon);
  EXPECT_TRUE(only<GiveAnswer>(key(KeyName::text, "y")));
}

// A question of ask_user that is stopped has no answer on record.
TEST_F(ChatKeys, AQuestionWhoseAskerHasEndedIsClosed) {
  story.begin("go");
  story.ask("a", "Which?", {}, QuestionKind::to_person);
  story.ask("b", "Run", {});
  story.pass(kTooSoon);
  key(KeyName::control, "c");
  story.tell_child("a", RunEnded{Report{}});
  ASSERT_TRUE(is_open(story.state.dialog));
  EXPECT_EQ(story.state.dialog.waiting.front().label, "b") << "who still asks";
  story.tell_child("b", RunEnded{Report{}});
  EXPECT_FALSE(is_open(story.state.dialog));
}

// Somebody types a reason, and the asker ends: the rest of it cancels nobody, nudges nobody and is no input.
TEST_F(ChatKeys, WhatIsTypedForAQuestionThatOthersCloseIsForNobodyElse) {
  story.begin("go");
  story.child("other");
  key(KeyName::tab);
  ASSERT_EQ(story.state.chosen, SessionId("sess_other"));
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  type("nnot ");
  story.take_out();
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_FALSE(is_open(story.state.dialog));
  EXPECT_THAT(story.take_out(), HasSubstr("not given, as what was asked was settled meanwhile: not"));
  story.pass(kTooSoon - std::chrono::milliseconds(1));
  EXPECT_THAT(type("c"), IsEmpty()) << "it cancels nobody";
  EXPECT_THAT(story.state.notice.text, HasSubstr("settled meanwhile"));
  story.pass(kTooSoon - std::chrono::milliseconds(1));
  type("n");
  EXPECT_EQ(story.state.typing, Typing::input) << "who types on has not seen it";
  story.pass(kTooSoon);
  EXPECT_TRUE(only<CancelOne>(type("c")));
}

TEST_F(ChatKeys, AReasonThatIsTypedOnBehindItsQuestionIsNoInput) {
  story.begin("go");
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  type("nno");
  story.tell_child("a", QuestionAnswered{"q1", {AnswerKind::approved, "", Source::person}});
  type("t here");
  key(KeyName::enter);
  EXPECT_TRUE(story.state.queued.empty());
  EXPECT_EQ(story.state.input.text, "");
  story.pass(kTooSoon);
  type("go on");
  key(KeyName::enter);
  EXPECT_THAT(story.state.queued, ElementsAre("go on"));
}

// Nobody has begun to answer it, or it is the person who closes it.
TEST_F(ChatKeys, AQuestionThatClosesBeforeItCouldBeReadOrByCtrlCHoldsNoKeysBack) {
  story.begin("go");
  story.ask("a", "Run ls", {});
  story.answer_last();
  type("x");
  EXPECT_EQ(story.state.input.text, "x");
  key(KeyName::backspace);
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  key(KeyName::control, "c");
  story.tell_child("a", RunEnded{Report{}});
  type("x");
  EXPECT_EQ(story.state.input.text, "x");
}

TEST_F(ChatKeys, WhatWasTypedAheadIsToldNotToBeBegunWhereAllIsCancelled) {
  story.begin("go");
  type("and then this");
  key(KeyName::enter);
  story.take_out();
  EXPECT_TRUE(only<CancelAll>(key(KeyName::control, "c")));
  EXPECT_TRUE(story.state.queued.empty());
  EXPECT_THAT(story.take_out(), HasSubstr("not begun, as all is cancelled: and then this"));
}

TEST_F(ChatKeys, AnApprovalForTheSessionIsForAllWhoAskTheSameAlready) {
  story.begin("go");
  story.ask("a", "Run ls", {"Bash(ls)"});
  story.ask("b", "Run rm", {"Bash(rm)"});
  story.ask("c", "Run ls", {"Bash(ls)"});
  story.pass(kTooSoon);
  EXPECT_THAT(type("s"), IsEmpty()) << "one letter is not enough for that";
  const auto intents = key(KeyName::enter);
  ASSERT_EQ(intents.size(), 2u);
  for (const auto& intent : intents) {
    const auto* given = std::get_if<GiveAnswer>(&intent);
    ASSERT_TRUE(given);
    EXPECT_EQ(given->answer.kind, AnswerKind::approved);
    EXPECT_NE(given->question_id, "q2");
  }
  ASSERT_EQ(story.state.dialog.waiting.size(), 1u);
  EXPECT_EQ(story.state.dialog.waiting.front().label, "b");
}

TEST_F(ChatKeys, APathIsNoCommand) {
  type("/etc/hosts has what?");
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<SubmitInput>(intents));
  EXPECT_EQ(only<SubmitInput>(intents)->text, "/etc/hosts has what?");
}

TEST_F(ChatKeys, ACommandIsNoInput) {
  type("/cost");
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<DoCommand>(intents));
  EXPECT_EQ(only<DoCommand>(intents)->name, "/cost");
  set_text(story.state.input, "/model  rehearsal ");
  const auto model = key(KeyName::enter);
  ASSERT_TRUE(only<DoCommand>(model));
  EXPECT_EQ(only<DoCommand>(model)->arguments, "rehearsal");
}

TEST_F(ChatKeys, CtrlLClearsTheScreenAndIsNoKeyForAQuestionNorForTheLine) {
  story.begin("go");
  type("half a l");
  EXPECT_TRUE(only<ClearScreen>(key(KeyName::control, "l")));
  EXPECT_EQ(story.state.input.text, "half a l");
  set_text(story.state.input, "");
  story.ask("a", "Run ls", {"Bash(ls)"});
  story.pass(kTooSoon);
  EXPECT_TRUE(only<ClearScreen>(key(KeyName::control, "l")));
  EXPECT_TRUE(only<GiveAnswer>(type("y"))) << "it waits for no pause";
}

}  // namespace
}  // namespace deputy
