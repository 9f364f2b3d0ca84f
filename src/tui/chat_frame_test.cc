#include "tui/chat_frame.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "base/text.h"
#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Chat = ChatPlay;

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

}  // namespace
}  // namespace deputy
