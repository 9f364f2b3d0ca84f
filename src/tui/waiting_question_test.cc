// A question that waits while the person types a line or sees to a child.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using WaitingQuestion = ChatPlay;

TEST_F(WaitingQuestion, AQuestionWaitsUntilTheLineThatIsTypedIsSent) {
  story.begin("go");
  story.child("a");
  type("and the");
  story.ask("a", "Run ls\nin /w", {"Bash(ls)"});
  story.pass(kTooSoon);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("\n[a] asks for approval: Run ls in /w\n❯ and the\n"),
                                      HasSubstr("Esc: the question"), Not(HasSubstr("(y)"))));
  EXPECT_THAT(type("y tests"), IsEmpty());
  EXPECT_TRUE(is_open(story.state.dialog));
  key(KeyName::enter);
  EXPECT_THAT(story.state.queued, ElementsAre("and they tests"));
  was_taken(story.state);
  EXPECT_THAT(type("y"), IsEmpty()) << "typed ahead";
  story.pass(kTooSoon);
  EXPECT_THAT(story.screen(80), HasSubstr("(y)"));
  EXPECT_TRUE(only<GiveAnswer>(type("y")));
}

// The first letter of what the child is told may be a yes.
TEST_F(WaitingQuestion, AQuestionWaitsForANudgeOfWhichNoLetterIsTypedYet) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  type("n");
  ASSERT_EQ(story.state.typing, Typing::nudge);
  story.ask("b", "Run ls", {});
  was_taken(story.state);
  story.pass(kTooSoon);
  EXPECT_THAT(type("you may stop"), IsEmpty());
  const auto told = key(KeyName::enter);
  ASSERT_TRUE(only<NudgeOne>(told));
  EXPECT_EQ(only<NudgeOne>(told)->session, SessionId("sess_a"));
  EXPECT_EQ(only<NudgeOne>(told)->text, "you may stop");
  EXPECT_TRUE(question_has_keys(story.state));
}

TEST_F(WaitingQuestion, ALineThatIsLeftForAQuestionIsThereAgainAfterwards) {
  story.begin("go");
  type("half a line");
  story.ask("a", "Run ls", {});
  key(KeyName::escape);
  was_taken(story.state);
  story.pass(kTooSoon);
  key(KeyName::tab);
  EXPECT_FALSE(story.state.chosen) << "the line would be taken for what the child is told";
  EXPECT_TRUE(only<GiveAnswer>(type("y")));
  EXPECT_THAT(story.screen(80), HasSubstr("❯ half a line"));
  type("!");
  EXPECT_EQ(story.state.input.text, "half a line!");
}

TEST_F(WaitingQuestion, AQuestionThatOthersCloseWhileItWaitsHoldsNoKeysOfTheLineBack) {
  story.begin("go");
  type("half");
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  story.answer_last();
  type(" a line");
  EXPECT_EQ(story.state.input.text, "half a line");
}

// What is too long for the screen is printed above it, but not into what somebody types.
TEST_F(WaitingQuestion, AQuestionThatWaitsIsPrintedWholeOnlyWhenItsTurnComes) {
  story.state.size = {80, 24};
  story.begin("go");
  type("half");
  story.take_out();
  story.ask("a", script_of(40), {});
  EXPECT_EQ(story.take_out(), "");
  key(KeyName::escape);
  EXPECT_THAT(story.take_out(), HasSubstr("step 20.\n"));
}

TEST_F(WaitingQuestion, AtAQuestionTabGoesToTheChildThatAsksItsParent) {
  story.begin("go");
  story.child("a");
  story.child("b");
  story.ask("b", "How dark?", {}, QuestionKind::to_parent);
  story.tell_root(QuestionAsked{{.id = "main's",
                                 .kind = QuestionKind::to_person,
                                 .asker = story.root,
                                 .label = "main",
                                 .agent = "main",
                                 .text = "Which colour?",
                                 .suggestions = {"red", "blue"}}});
  key(KeyName::tab);
  EXPECT_FALSE(story.state.chosen) << "it could not be read yet";
  story.pass(kTooSoon);
  EXPECT_THAT(story.screen(40), AllOf(HasSubstr("(1) red"), HasSubstr("Tab: children")));
  key(KeyName::tab);
  EXPECT_EQ(story.state.chosen, SessionId("sess_b"));
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("[main] asks: Which colour?\n"), HasSubstr("a answer"),
                                      Not(HasSubstr("(1) red"))));
  EXPECT_THAT(type("1"), IsEmpty()) << "no key answers what is not offered";
  type("a");
  EXPECT_THAT(type("2"), IsEmpty());
  const auto to_child = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(to_child));
  EXPECT_EQ(only<GiveAnswer>(to_child)->question_id, "q1");
  EXPECT_EQ(only<GiveAnswer>(to_child)->answer.text, "2");

  EXPECT_THAT(type("2"), IsEmpty()) << "typed before it was shown again";
  was_taken(story.state);
  story.pass(kTooSoon);
  const auto to_main = type("2");
  ASSERT_TRUE(only<GiveAnswer>(to_main));
  EXPECT_EQ(only<GiveAnswer>(to_main)->question_id, "main's");
  EXPECT_EQ(only<GiveAnswer>(to_main)->answer.text, "blue");
}

TEST_F(WaitingQuestion, FromAChildEscapeGoesBackToTheQuestion) {
  story.begin("go");
  story.child("a");
  for (int file = 0; file < 100; ++file) story.call_of_child("Read", fmt::format("file{}.txt", file));
  story.ask("a", "Run ls", {});
  story.pass(kTooSoon);
  key(KeyName::tab);
  ASSERT_FALSE(question_has_keys(story.state));
  type("nthat");
  key(KeyName::escape);
  key(KeyName::page_up);
  key(KeyName::escape);
  EXPECT_FALSE(question_has_keys(story.state)) << "these were for what was typed, and for the end of the log";
  key(KeyName::escape);
  EXPECT_TRUE(question_has_keys(story.state));
  EXPECT_FALSE(story.state.chosen);
  EXPECT_THAT(type("y"), IsEmpty());
  was_taken(story.state);
  story.pass(kTooSoon);
  EXPECT_TRUE(only<GiveAnswer>(type("y")));
}

}  // namespace
}  // namespace deputy
