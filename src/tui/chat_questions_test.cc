// Questions in the chat: how they are answered, and what stays of them in the scrollback and in the tree.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Chat = ChatPlay;

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

}  // namespace
}  // namespace deputy
