#include "tui/completion.h"

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

using ChatKeys = ChatPlay;

TEST_F(ChatKeys, CompletesCommandsAndPaths) {
  type("/mo");
  EXPECT_THAT(story.state.completion.choices, ElementsAre("/model"));
  key(KeyName::tab);
  EXPECT_EQ(story.state.input.text, "/model ");
  key(KeyName::control, "u");
  const auto intents = type("see @src/m");
  ASSERT_TRUE(only<ListFolder>(intents));
  EXPECT_EQ(only<ListFolder>(intents)->folder, "src/");
  apply_listing(story.state, "src/", {"main.cc", "model/", ".hidden", "x"});
  EXPECT_THAT(story.state.completion.choices, ElementsAre("@src/main.cc", "@src/model/"));
  key(KeyName::down);
  key(KeyName::tab);
  EXPECT_EQ(story.state.input.text, "see @src/model/");
}

TEST_F(ChatKeys, AFolderThatIsTakenIsLookedInto) {
  type("see @sr");
  apply_listing(story.state, "", {"src/"});
  const auto taken = key(KeyName::tab);
  EXPECT_EQ(story.state.input.text, "see @src/");
  ASSERT_TRUE(only<ListFolder>(taken));
  EXPECT_EQ(only<ListFolder>(taken)->folder, "src/");
  apply_listing(story.state, "src/", {"main.cc", "map.cc"});
  EXPECT_THAT(story.screen(80), HasSubstr("@src/map.cc"));
  EXPECT_THAT(key(KeyName::tab), IsEmpty()) << "a file holds nothing";
  EXPECT_EQ(story.state.input.text, "see @src/main.cc ");
}

TEST_F(ChatKeys, CompletionsThatHaveNoRoomAreCounted) {
  type("@f");
  std::vector<std::string> entries;
  for (int at = 1; at <= 8; ++at) entries.push_back(fmt::format("file{}", at));
  apply_listing(story.state, "", entries);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("@file8\n"), Not(HasSubstr("more"))));
  entries.emplace_back("file9");
  apply_listing(story.state, "", entries);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("@file7\n  (2 more)\n"), Not(HasSubstr("@file8"))));
  for (int down = 0; down < 8; ++down) key(KeyName::down);
  EXPECT_THAT(story.screen(80), AllOf(HasSubstr("❯ @file9\n  (2 more)\n"), Not(HasSubstr("@file2"))));
}

TEST_F(ChatKeys, APathWithSpacesIsCompletedInQuotes) {
  type("see @my");
  apply_listing(story.state, "", {"my notes/", "my file.txt", "myth", "mine", "my \"quoted\" one"});
  EXPECT_THAT(story.state.completion.choices, ElementsAre("@\"my notes/", "@\"my file.txt\"", "@myth"));
  key(KeyName::tab);
  EXPECT_EQ(story.state.input.text, "see @\"my notes/");
  const auto intents = type("to d");
  ASSERT_TRUE(only<ListFolder>(intents));
  EXPECT_EQ(only<ListFolder>(intents)->folder, "my notes/");
  apply_listing(story.state, "my notes/", {"to do.md", "today"});
  EXPECT_THAT(story.state.completion.choices, ElementsAre("@\"my notes/to do.md\""));
  key(KeyName::tab);
  EXPECT_EQ(story.state.input.text, "see @\"my notes/to do.md\" ");
  EXPECT_THAT(type("and say \"hello"), IsEmpty()) << "these quotes are no path's";
}

TEST_F(ChatKeys, OfAHundredThousandFilesSomeAreOffered) {
  std::vector<std::string> entries;
  for (int at = 0; at < 100'000; ++at) entries.push_back(fmt::format("file{}.txt", at));
  type("@file99");
  apply_listing(story.state, "", entries);
  EXPECT_THAT(story.state.completion.choices, testing::SizeIs(200));
  EXPECT_EQ(story.state.completion.choices.front(), "@file99.txt");
}

TEST_F(ChatKeys, AListOfPathsThatComesLateIsNotOfferedForANudge) {
  story.begin("go");
  story.child("a");
  ASSERT_TRUE(only<ListFolder>(type("@src/m")));
  key(KeyName::control, "u");
  key(KeyName::tab);
  type("n@src/m");
  apply_listing(story.state, "src/", {"main.cc"});
  EXPECT_FALSE(story.state.completion.is_open());
}

}  // namespace
}  // namespace deputy
