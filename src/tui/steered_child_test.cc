// A child is nudged, answered and sent to the background, by the keys where it is chosen and by commands.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using ChatKeys = ChatPlay;

TEST_F(ChatKeys, ACommandForAChildThatNamesNoneSaysWhatIsMissing) {
  story.begin("go");
  story.child("a");
  for (const std::string_view command : {"/cancel", "/nudge", "/answer", "/background"}) {
    story.take_out();
    type(command);
    EXPECT_THAT(key(KeyName::enter), IsEmpty());
    EXPECT_THAT(story.take_out(), AllOf(HasSubstr(fmt::format("{} needs the name of a child", command)),
                                        HasSubstr("/tree"), Not(HasSubstr("no child"))));
  }
}

TEST_F(ChatKeys, AChosenChildCanBeSentToTheBackground) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), HasSubstr("b background"));
  const auto intents = type("b");
  ASSERT_TRUE(only<SendToBackground>(intents));
  EXPECT_EQ(only<SendToBackground>(intents)->session, SessionId("sess_a"));
  EXPECT_THAT(story.screen(80), HasSubstr("a goes to the background"));
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(type("b"), IsEmpty()) << "it has ended";
  key(KeyName::escape);
  type("b");
  EXPECT_EQ(story.state.input.text, "b") << "no child is chosen";
}

TEST_F(ChatKeys, WhatSendsAChildToTheBackgroundNamesTheToolThatStartedIt) {
  story.begin("go");
  story.start_child("task", 0, "a");
  story.start_child("Delegate", 1, "b");
  key(KeyName::tab);
  EXPECT_TRUE(only<SendToBackground>(type("b")));
  EXPECT_THAT(story.state.notice.text,
              AllOf(HasSubstr("a goes to the background"), HasSubstr("task"), Not(HasSubstr("Delegate"))));
  story.tell_root(Detached{SessionId("sess_a")}, 0);
  EXPECT_EQ(story.state.notice.text, "") << "it is there";
  EXPECT_THAT(type("b"), IsEmpty());
  EXPECT_THAT(story.state.notice.text, HasSubstr("a works in the background already"));

  key(KeyName::down);
  EXPECT_THAT(type("b"), IsEmpty()) << "one result for all";
  EXPECT_THAT(story.state.notice.text, HasSubstr("b stays: Delegate waits for all that it started"));
  key(KeyName::escape);
  story.take_out();
  type("/background b");
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("b stays: Delegate"));
}

TEST_F(ChatKeys, AChildThatACallWaitsForAgainCanBeSentToTheBackgroundAgain) {
  story.begin("go");
  story.start_child("task", 0, "a");
  story.tell_root(Detached{SessionId("sess_a")}, 0);
  story.reply("", {});
  story.tell_root(CallStarted{"answer_subagent", "red"}, 0);
  story.tell_root(Attached{SessionId("sess_a")}, 0);
  key(KeyName::tab);
  EXPECT_TRUE(only<SendToBackground>(type("b")));
  EXPECT_THAT(story.state.notice.text, HasSubstr("answer_subagent returns now"));
}

TEST_F(ChatKeys, AChosenChildCanBeNudged) {
  story.begin("go");
  story.child("a");
  story.child("b");
  key(KeyName::tab);
  EXPECT_THAT(type("n"), IsEmpty());
  type("be brief, c");
  EXPECT_THAT(story.screen(80), HasSubstr("to it ❯ be brief, c"));
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<NudgeOne>(intents));
  EXPECT_EQ(only<NudgeOne>(intents)->session, SessionId("sess_a"));
  EXPECT_EQ(only<NudgeOne>(intents)->text, "be brief, c");
  EXPECT_EQ(story.state.input.text, "");
  EXPECT_EQ(story.state.chosen, SessionId("sess_a")) << "it is still followed";
  EXPECT_THAT(story.state.queued, IsEmpty()) << "it is nothing for the root";
}

TEST_F(ChatKeys, ThatANudgeIsReadSoonIsSaidUntilItIs) {
  constexpr std::string_view kSaid = "a reads it before its next step";
  const auto nudge = [this] {
    type("n");
    type("be brief");
    key(KeyName::enter);
  };
  story.begin("go");
  story.child("a");
  story.child("b");
  key(KeyName::tab);
  nudge();
  story.tell_child("a", Nudged{"n1", Source::person, "be brief"});
  story.tell_child("a", Delivered{"report of another", Source::child, "done"});
  story.tell_child("b", Delivered{"n2", Source::person, "be brief"});
  story.tell_child("b", RunEnded{Report{}});
  EXPECT_THAT(story.screen(80), HasSubstr(kSaid)) << "it has not read it yet";
  story.tell_child("a", Delivered{"n1", Source::person, "be brief"});
  EXPECT_THAT(story.screen(80), Not(HasSubstr(kSaid)));
  nudge();
  EXPECT_THAT(story.screen(80), HasSubstr(kSaid)) << "control";
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(story.screen(80), Not(HasSubstr(kSaid)));
}

TEST_F(ChatKeys, WhatIsSaidOfAChildDoesNotTakeAwayWhatIsSaidSince) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  type("nbe brief");
  key(KeyName::enter);
  key(KeyName::control, "c");
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(story.state.notice.text, HasSubstr("cancelling"));
  story.tell_root(RunEnded{Report{}});
  EXPECT_EQ(story.state.notice.text, "") << "all is cancelled";
}

TEST_F(ChatKeys, AChosenChildThatAsksItsParentCanBeAnswered) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  EXPECT_THAT(type("a"), IsEmpty());
  EXPECT_EQ(story.state.typing, Typing::input) << "it asks nothing";
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  EXPECT_THAT(story.screen(80), HasSubstr("a answer"));
  type("a");
  type("the red one");
  EXPECT_THAT(story.screen(80), HasSubstr("answer ❯ the red one"));
  const auto intents = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(intents));
  EXPECT_EQ(only<GiveAnswer>(intents)->question_id, "q1");
  EXPECT_EQ(only<GiveAnswer>(intents)->answer, (Answer{AnswerKind::text, "the red one"}));
}

TEST_F(ChatKeys, AnAnswerThatComesTooLateIsToldAsSuch) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  type("a");
  type("late");
  EXPECT_TRUE(story.state.asked_at.contains(SessionId("sess_a")));
  story.tell_child("a", QuestionAnswered{"q1", {AnswerKind::text, "by its parent"}});
  EXPECT_FALSE(story.state.asked_at.contains(SessionId("sess_a"))) << "it is answered";
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.screen(80), HasSubstr("meanwhile"));
}

TEST_F(ChatKeys, AChildThatHasEndedWithoutAnAnswerDoesNotAskAnyMore) {
  story.begin("go");
  story.child("a");
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  ASSERT_TRUE(story.state.asked_at.contains(SessionId("sess_a")));
  story.tell_child("a", RunEnded{});
  EXPECT_FALSE(story.state.asked_at.contains(SessionId("sess_a")));
}

TEST_F(ChatKeys, AnAnswerIsToTheQuestionThatWasAskedWhenItWasBegun) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  type("a");
  type("the red one");
  story.tell_child("a", QuestionAnswered{"q1", {AnswerKind::text, "by its parent"}});
  story.ask("a", "Delete all?", {}, QuestionKind::to_parent);
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.screen(80), HasSubstr("meanwhile"));
}

TEST_F(ChatKeys, WhatIsTypedForAChildIsNotSentToTheChatWhenAllHasEnded) {
  for (const bool child_has_ended : {true, false}) {
    story.begin("go");
    story.child("a");
    key(KeyName::tab);
    type("nplease look at");
    if (child_has_ended) story.tell_child("a", RunEnded{Report{}});
    story.tell_root(RunEnded{Report{}});
    type(" the till");
    EXPECT_THAT(story.screen(80), HasSubstr("to it ❯ please look at the till"));
    EXPECT_THAT(key(KeyName::enter), IsEmpty());
    EXPECT_THAT(story.screen(80), HasSubstr("it has ended meanwhile and was not told"));
    EXPECT_THAT(type("c"), IsEmpty());
    EXPECT_EQ(story.state.input.text, "");
    EXPECT_EQ(story.state.chosen, SessionId("sess_a")) << "it is followed until Esc";
    key(KeyName::escape);
    EXPECT_FALSE(story.state.chosen);
    type("next");
    EXPECT_TRUE(only<SubmitInput>(key(KeyName::enter)));
  }
}

TEST_F(ChatKeys, AnAnswerToAChildIsNotSentToTheChatWhenAllHasEnded) {
  story.begin("go");
  story.child("a");
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  key(KeyName::tab);
  type("ared");
  story.tell_root(RunEnded{Report{}});
  type(" please");
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.screen(80), HasSubstr("it was answered, or has ended, meanwhile"));
}

TEST_F(ChatKeys, ChildrenAreSteeredByCommandsToo) {
  const auto command = [this](std::string_view text) {
    type(text);
    return key(KeyName::enter);
  };
  story.begin("go");
  story.child("a");
  story.child("a b");
  const auto nudged = command("/nudge a b be brief");
  ASSERT_TRUE(only<NudgeOne>(nudged));
  EXPECT_EQ(only<NudgeOne>(nudged)->session, SessionId("sess_a b")) << "the longest label that fits";
  EXPECT_EQ(only<NudgeOne>(nudged)->text, "be brief");
  const auto cancelled = command("/cancel a");
  ASSERT_TRUE(only<CancelOne>(cancelled));
  EXPECT_EQ(only<CancelOne>(cancelled)->session, SessionId("sess_a"));
  EXPECT_TRUE(only<SendToBackground>(command("/background a")));
  story.take_out();
  EXPECT_THAT(command("/answer a red"), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("asks its parent nothing"));
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  const auto answered = command("/answer a red");
  ASSERT_TRUE(only<GiveAnswer>(answered));
  EXPECT_EQ(only<GiveAnswer>(answered)->answer, (Answer{AnswerKind::text, "red"}));
  EXPECT_THAT(command("/nudge a"), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("what it is told"));
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(command("/cancel a"), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("no child of that name is at work"));
}

TEST_F(ChatKeys, AnAnswerByCommandIsToWhatWasAskedWhenTheLineWasBegun) {
  story.begin("go");
  story.child("a");
  story.ask("a", "Which?", {}, QuestionKind::to_parent);
  type("/answer a the red one");
  const auto in_time = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(in_time));
  EXPECT_EQ(only<GiveAnswer>(in_time)->question_id, "q1");

  type("/answer a the red one");
  story.tell_child("a", QuestionAnswered{"q1", {AnswerKind::text, "by its parent"}});
  story.take_out();
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("answered meanwhile"));

  type("/answer a the red");
  story.ask("a", "Delete all?", {}, QuestionKind::to_parent);
  type(" one");
  EXPECT_THAT(key(KeyName::enter), IsEmpty()) << "it asked nothing when the line was begun";
  EXPECT_THAT(story.take_out(), HasSubstr("something while you typed"));

  type("/answer a the red");
  story.tell_child("a", QuestionAnswered{"q2", {AnswerKind::text, "by its parent"}});
  story.ask("a", "Delete the rest?", {}, QuestionKind::to_parent);
  type(" one");
  EXPECT_THAT(key(KeyName::enter), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("something while you typed"));

  type("/answer a no");
  const auto again = key(KeyName::enter);
  ASSERT_TRUE(only<GiveAnswer>(again)) << "typed again it is to what is asked now";
  EXPECT_EQ(only<GiveAnswer>(again)->question_id, "q3");
}

TEST_F(ChatKeys, AChildThatSharesItsLabelWithAnothersIsNamedByItsId) {
  const auto command = [this](std::string_view text) {
    type(text);
    return key(KeyName::enter);
  };
  const auto start_twin = [this](const std::string& id, const std::string& parent) {
    story.tell(SessionId(id), {SessionId("sess_" + parent), "twin", "reader"}, RunStarted{});
  };
  story.begin("go");
  story.child("a");
  story.child("b");
  start_twin("sess_1", "a");
  start_twin("sess_2", "b");
  story.take_out();
  EXPECT_THAT(command("/cancel twin"), IsEmpty());
  EXPECT_THAT(story.take_out(), HasSubstr("several are called twin; give the id of /tree"));
  const auto cancelled = command("/cancel sess_2");
  ASSERT_TRUE(only<CancelOne>(cancelled));
  EXPECT_EQ(only<CancelOne>(cancelled)->session, SessionId("sess_2"));
  const auto nudged = command("/nudge sess_1 be brief");
  ASSERT_TRUE(only<NudgeOne>(nudged));
  EXPECT_EQ(only<NudgeOne>(nudged)->session, SessionId("sess_1"));
  EXPECT_EQ(only<NudgeOne>(nudged)->text, "be brief");
  story.tell(SessionId("sess_1"), {SessionId("sess_a"), "twin", "reader"}, RunEnded{Report{}});
  const auto left = command("/cancel twin");
  ASSERT_TRUE(only<CancelOne>(left)) << "the other has ended";
  EXPECT_EQ(only<CancelOne>(left)->session, SessionId("sess_2"));
}

TEST_F(ChatKeys, WithATextInTheLineNoKeyIsForAChild) {
  story.begin("go");
  story.child("a");
  for (const auto& [name, text] : {std::pair(KeyName::paste, "see it"), std::pair(KeyName::control, "p")}) {
    story.state.input.history = {"see it"};
    key(KeyName::tab);
    ASSERT_TRUE(story.state.chosen);
    key(name, text);
    EXPECT_FALSE(story.state.chosen);
    EXPECT_THAT(type("c"), IsEmpty()) << "it cancels nobody";
    EXPECT_EQ(story.state.input.text, "see itc");
    set_text(story.state.input, "");
  }
}

TEST_F(ChatKeys, ANudgeCanBeGivenUp) {
  story.begin("go");
  story.child("a");
  key(KeyName::tab);
  type("nthis");
  EXPECT_THAT(key(KeyName::escape), IsEmpty());
  EXPECT_EQ(story.state.input.text, "");
  EXPECT_TRUE(story.state.chosen);
  type("n ");
  EXPECT_THAT(key(KeyName::enter), IsEmpty()) << "nothing was said";
  type("nthat");
  story.tell_child("a", RunEnded{Report{}});
  EXPECT_THAT(key(KeyName::enter), IsEmpty()) << "it has ended";
  EXPECT_THAT(story.screen(80), HasSubstr("was not told"));
}

}  // namespace
}  // namespace deputy
