// Approvals that are asked for in the chat: all of it is shown, and no key approves what could not be read.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Chat = ChatPlay;

TEST_F(Chat, AnApprovalNamesWhoAsksAndWhatWillRun) {
  story.begin("go");
  story.ask("survey", "Run in /w:\nrm -rf build", {"Bash(rm -rf build)"});
  ASSERT_TRUE(is_open(story.state.dialog));
  EXPECT_EQ(story.state.dialog.waiting.front().label, "survey");
  const auto screen = story.screen(80);
  EXPECT_THAT(screen, HasSubstr("[survey] asks for approval"));
  EXPECT_THAT(screen, HasSubstr("rm -rf build"));
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

}  // namespace
}  // namespace deputy
