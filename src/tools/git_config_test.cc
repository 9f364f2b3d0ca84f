#include "tools/git_config.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using testing::ElementsAre;

TEST(GitConfig, NamesWhatIsIncludedAndWhereHooksLie) {
  const auto found = paths_in_git_config(
      "\xef\xbb\xbf# a comment\n[core] bare = false ; [include]\n\thooksPath = .githooks\t# mine\n"
      "[include]path=../one\n\tpath = \"a b;c\" \r\n\tnoValue\n\tPATH = x\\\n y\\\\z\n"
      "[includeIf \"onbranch:]x\\\"\"]\n\tpath = /three\n[other]\n\tpath = no\n\thooksPath = no\n"
      "[include \"sub\"]\n\tpath = no\n[include]\n\tpath = four");
  EXPECT_THAT(found.included, ElementsAre("../one", "a b;c", "x y\\z", "/three", "four"));
  EXPECT_THAT(found.hooks, ElementsAre(".githooks"));
}

TEST(GitConfig, NamesNothingWhereNothingIsTakenFromElsewhere) {
  for (const char* text : {"", "[", "[core", "[core]", "[core]\n\thooksPath", "path = x", "[include]\n= x\n",
                           "# [include]\n# path = x\n", "[include] ; path = x\n"})
    EXPECT_EQ(paths_in_git_config(text), GitConfigPaths{}) << text;
}

}  // namespace
}  // namespace deputy
