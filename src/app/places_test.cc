#include "app/places.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

MapEnvironment everything() {
  return MapEnvironment({{"DEPUTY_HOME", "/state"}, {"XDG_STATE_HOME", "/xdg"}, {"HOME", "/home/a"}});
}

TEST(StateFolder, TheFirstThatIsSetDecides) {
  auto environment = everything();
  EXPECT_EQ(state_folder({.home = "here"}, environment, "/work").value(), "/work/here");
  EXPECT_EQ(state_folder({}, environment, "/work").value(), "/state");
  environment.set("DEPUTY_HOME", "");
  EXPECT_EQ(state_folder({}, environment, "/work").value(), "/xdg/deputy");
  environment.set("XDG_STATE_HOME", "relative");
  EXPECT_EQ(state_folder({}, environment, "/work").value(), "/home/a/.local/state/deputy");
}

TEST(StateFolder, WithoutAHomeSaysHowToNameOne) {
  const auto found = state_folder({}, MapEnvironment(), "/work");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().advice.find("--home"), std::string::npos);
}

TEST(StateFolder, AnEmptyNameIsRefused) { EXPECT_FALSE(state_folder({.home = ""}, everything(), "/work")); }

TEST(AbsolutePath, ARelativeNameNeedsACurrentFolder) {
  EXPECT_EQ(absolute_path("./a//b/", "/work").value(), "/work/a/b");
  EXPECT_FALSE(absolute_path("a", ""));
  EXPECT_EQ(absolute_path("/a", "").value(), "/a");
}

TEST(ShellQuoted, OnlyWhatNeedsIt) {
  EXPECT_EQ(shell_quoted("/a/b-c.d"), "/a/b-c.d");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace deputy
