// A child that is chosen: what it does and says is read, and read back.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "tui/chat_play.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using ChatKeys = ChatPlay;

TEST_F(ChatKeys, AChosenChildIsFollowedAndCanBeCancelled) {
  story.begin("go");
  story.child("a");
  story.child("b");
  story.call_of_child("Read", "only-b-reads-this");
  key(KeyName::tab);
  EXPECT_EQ(story.state.chosen, SessionId("sess_a"));
  key(KeyName::down);
  EXPECT_EQ(story.state.chosen, SessionId("sess_b"));
  EXPECT_THAT(story.screen(80), HasSubstr("│ → Read only-b-reads-this"));
  const auto intents = type("c");
  ASSERT_TRUE(only<CancelOne>(intents));
  EXPECT_EQ(only<CancelOne>(intents)->session, SessionId("sess_b"));
  story.tell_child("b", RunEnded{Report{}});
  EXPECT_THAT(type("c"), IsEmpty()) << "it has ended";
  key(KeyName::escape);
  EXPECT_FALSE(story.state.chosen);
}

TEST_F(ChatKeys, WhatAChosenChildSaysIsReadWhileItSaysIt) {
  story.redactor.hide("hunter2hunter2");
  story.begin("go");
  story.child("a");
  apply_text(story.state, SessionId("sess_a"), "I have found\nthe key hunter2");
  EXPECT_THAT(story.screen(80), Not(HasSubstr("I have found")));
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("│ I have found\n│ the key"), Not(HasSubstr("hunter2"))));
  apply_text(story.state, SessionId("sess_a"), "hunter2 is there now");
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("is there"), Not(HasSubstr("hunter2"))));
  apply_retry(story.state, SessionId("sess_a"), {});
  EXPECT_THAT(story.screen(80), Not(HasSubstr("I have found"))) << "it is asked for again";
  apply_text(story.state, SessionId("sess_a"), "once more");
  Reply whole;
  whole.message = {.role = Role::assistant, .text = "once more, and whole"};
  story.tell_child("a", ReplyReceived{whole});
  const std::string screen = story.screen(80);
  EXPECT_EQ(screen.find("│ once more"), screen.rfind("│ once more")) << "it is not told twice";
}

TEST_F(ChatKeys, WhatAChildDidIsReadBackBeyondTheScreen) {
  story.begin("go");
  story.child("a");
  for (int file = 0; file < 100; ++file) story.call_of_child("Read", fmt::format("file{}.txt", file));
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("file99.txt"), Not(HasSubstr("│ → Read file60.txt"))));
  for (int page = 0; page < 4; ++page) key(KeyName::page_up);
  const std::string back = story.screen(80);
  EXPECT_THAT(back, AllOf(HasSubstr("│ → Read file50.txt"), Not(HasSubstr("│ → Read file99.txt"))));
  story.call_of_child("Read", "new.txt");
  const auto followed = [](const std::string& screen) { return screen.substr(0, screen.rfind("│ ")); };
  EXPECT_EQ(followed(story.screen(80)), followed(back)) << "what is read stays where it is";
  for (int page = 0; page < 40; ++page) key(KeyName::page_up);
  EXPECT_THAT(story.screen(80), HasSubstr("│ → Read file0.txt"));
  key(KeyName::escape);
  EXPECT_THAT(story.screen(80), HasSubstr("new.txt")) << "at the end again";
  EXPECT_TRUE(story.state.chosen);
  key(KeyName::page_up);
  for (int page = 0; page < 3; ++page) key(KeyName::page_down);
  EXPECT_EQ(story.state.scrolled, 0u);
}

TEST_F(ChatKeys, WhatAChildDidLeavesAQuarterOfAHighScreenToWhatWasSaid) {
  story.begin("go");
  story.child("a");
  for (int file = 0; file < 100; ++file) story.call_of_child("Read", fmt::format("file{}.txt", file));
  key(KeyName::tab);
  const auto rows_of_frame = [this](int rows) {
    story.state.size = {80, rows};
    return frame_of(story.state).lines.size();
  };
  EXPECT_EQ(rows_of_frame(50), 50U - 1 - 12) << "one row stays free anyway";
  EXPECT_EQ(rows_of_frame(18), 18U - 1 - 4) << "16 rows above the status line";
  EXPECT_EQ(rows_of_frame(17), 17U - 1) << "there is none to spare";
}

TEST_F(ChatKeys, WhatAChildDidIsThereAlsoWhereManyOthersAreAndItPrints) {
  story.begin("go");
  for (int child = 0; child < 12; ++child) story.child(fmt::format("c{}", child));
  story.call_of_child("Bash", "make");
  apply_output(story.state, SessionId("sess_c11"), "one\ntwo\nthree\n");
  key(KeyName::tab);
  while (story.state.chosen != SessionId("sess_c11")) key(KeyName::down);
  for (const int rows : {17, 18, 19, 24}) {
    for (const int columns : {40, 80})
      EXPECT_THAT(story.screen(columns, rows), HasSubstr("│ → Bash make")) << columns << " x " << rows;
  }
}

// Also where several children, the keys and what is printed leave a row or two for it.
TEST_F(ChatKeys, NoLineIsSkippedOfWhatAChildDidOnTheSmallestScreen) {
  story.begin("go");
  for (const auto* label : {"b", "c", "d", "e", "f", "a"}) story.child(label);
  constexpr int kFiles = 20;
  for (int file = 0; file < kFiles; ++file) story.call_of_child("Read", fmt::format("file{}.txt", file));
  apply_output(story.state, SessionId("sess_a"), "one\ntwo\nthree\n");
  key(KeyName::tab);
  while (story.state.chosen != SessionId("sess_a")) key(KeyName::down);
  const auto is_read = [&](int file) {
    return story.screen(40, 10).contains(fmt::format("│ → Read file{}.txt", file));
  };
  std::set<int> read;
  for (int page = 0; page < 2 * kFiles; ++page) {
    for (int file = 0; file < kFiles; ++file) {
      if (is_read(file)) read.insert(file);
    }
    key(KeyName::page_up);
  }
  EXPECT_EQ(read.size(), static_cast<std::size_t>(kFiles));
  EXPECT_TRUE(is_read(0)) << "and there it stays:\n" << story.screen(40, 10);
}

TEST_F(ChatKeys, WhatAChildDidIsReadBackWhileItSaysMoreThanTheScreenHolds) {
  story.begin("go");
  story.child("a");
  story.call_of_child("Read", "first.txt");
  for (int line = 0; line < 40; ++line)
    apply_text(story.state, SessionId("sess_a"), fmt::format("said {}\n", line));
  story.state.size = {80, 24};
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), Not(HasSubstr("│ → Read first.txt")));
  for (int page = 0; page < 3; ++page) {
    key(KeyName::page_up);
    EXPECT_THAT(story.screen(80), HasSubstr("│ → Read first.txt")) << page;
  }
  key(KeyName::page_down);
  EXPECT_EQ(story.state.scrolled, 0U);
}

TEST_F(ChatKeys, WhatIsReadBackOfAChildStaysWhenAllEnds) {
  story.begin("go");
  story.child("a");
  for (int file = 0; file < 100; ++file) story.call_of_child("Read", fmt::format("file{}.txt", file));
  story.tell_child("a", RunEnded{Report{}});
  key(KeyName::tab);
  story.screen(80);
  for (int page = 0; page < 40; ++page) key(KeyName::page_up);
  ASSERT_THAT(story.screen(80), HasSubstr("│ → Read file0.txt"));
  story.tell_root(RunEnded{Report{}});
  EXPECT_THAT(story.screen(80), HasSubstr("│ → Read file0.txt"));
}

TEST_F(ChatKeys, WhatChildrenDidCanBeReadWhenAllHasEnded) {
  story.begin("go");
  story.child("a");
  story.call_of_child("Read", "a.txt");
  story.tell_child("a", RunEnded{Report{}});
  story.tell_root(RunEnded{Report{}});
  key(KeyName::tab);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("│ → Read a.txt"), HasSubstr("❯ [a]")));
  for (const std::string_view letter : {"n", "b", "c", "x"}) {
    EXPECT_THAT(type(letter), IsEmpty());
    EXPECT_EQ(story.state.input.text, "") << letter << " is no message";
    EXPECT_THAT(story.screen(80), AllOf(HasSubstr("❯ [a]"), HasSubstr("it is not at work; Esc goes back")))
        << letter;
  }
  key(KeyName::escape);
  type("next");
  EXPECT_EQ(story.state.input.text, "next");
}

}  // namespace
}  // namespace deputy
