#include "app/replay_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace deputy {
namespace {

std::string replaced(std::string_view text, const std::map<std::string, std::string>& others) {
  std::vector<std::string> names;
  for (const auto& [name, other] : others) names.push_back(name);
  return Names(names).replaced(
      text, [&others](const std::string& name) { return std::string_view(others.at(name)); });
}

TEST(Names, AreReplacedWhereverTheyStand) {
  EXPECT_EQ(replaced("a tree, an oak, a tree", {{"tree", "bush"}, {"oak", "rose"}}),
            "a bush, an rose, a bush");
  EXPECT_EQ(replaced("", {{"tree", "bush"}}), "");
  EXPECT_EQ(replaced("a tre", {{"tree", "bush"}}), "a tre");
  EXPECT_EQ(replaced("trees", {}), "trees");
}

TEST(Names, AreFoundByTheLongestThatStandsThere) {
  const std::map<std::string, std::string> names{{"a", "1"}, {"ab", "2"}, {"abcd", "3"}, {"b", "4"}};
  EXPECT_EQ(replaced("abcd", names), "3");
  EXPECT_EQ(replaced("abc", names), "2c");
  EXPECT_EQ(replaced("abd", names), "2d") << "behind a longer one that begins like it";
  EXPECT_EQ(replaced("acab", names), "1c2");
  EXPECT_EQ(replaced("bb", names), "44");
}

TEST(Names, StayWhereNothingStandsForThem) { EXPECT_EQ(replaced("an oak", {{"oak", ""}}), "an oak"); }

TEST(Names, AreNoneThatAreEmpty) { EXPECT_EQ(replaced("oak", {{"", "x"}}), "oak"); }

// Each is named by what stands for the one before.
TEST(Names, AreNotLookedForInWhatIsPutIn) {
  std::map<std::string, std::string> names;
  for (int i = 0; i < 40; ++i) names[fmt::format("{:03}", i)] = fmt::format("<{0:03}{0:03}>", i + 1);
  EXPECT_EQ(replaced("000 039", names), "<001001> <040040>");
  EXPECT_EQ(replaced("a b", {{"a", "b"}, {"b", "a"}}), "b a");
}

}  // namespace
}  // namespace deputy
