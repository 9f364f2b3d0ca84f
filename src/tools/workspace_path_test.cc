#include "tools/workspace_path.h"

#include <gmock/gmock.h>

#include "tools/tool_bench.h"

namespace deputy {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class WorkspacePath : public testing::Test {
 protected:
  std::string trouble(const std::string& path) {
    const auto target = find_target(*bench.workspace, {}, path);
    EXPECT_TRUE(target);
    EXPECT_FALSE(target->place->status());
    return not_there(*target, Sight::of(bench.session).value());
  }
  ToolBench bench;
};

TEST_F(WorkspacePath, IsMadePlainAndRelative) {
  for (const char* given :
       {"src/a", "./src/a", "src//a", "/work/src/a", "x/../src/a", "src/a/", "/work/x/../src/./a"}) {
    EXPECT_EQ(workspace_path(*bench.workspace, given), "src/a") << given;
  }
  for (const char* given : {"", ".", "./", "/work", "/work/", "src/.."}) {
    EXPECT_EQ(workspace_path(*bench.workspace, given), ".") << given;
  }
}

TEST_F(WorkspacePath, OutsideIsSaidSo) {
  for (const char* given :
       {"/etc/passwd", "..", "../work/a", "src/../../etc", "/workshop/a", "/", "/work/.."}) {
    const auto path = workspace_path(*bench.workspace, given);
    ASSERT_FALSE(path) << given;
    EXPECT_EQ(path.error().code, ErrorCode::denied);
    EXPECT_THAT(to_text(path.error()),
                AllOf(HasSubstr("outside the workspace /work"), HasSubstr("relative")));
  }
  EXPECT_FALSE(workspace_path(*bench.workspace, std::string_view("a\0b", 3)));
}

TEST_F(WorkspacePath, HasALimit) {
  EXPECT_TRUE(workspace_path(*bench.workspace, std::string(kMaxPathBytes, 'a')));
  EXPECT_FALSE(workspace_path(*bench.workspace, std::string(kMaxPathBytes + 1, 'a')));
}

TEST_F(WorkspacePath, AMissingNameComesWithNearOnes) {
  bench.write("src/guard/rules.cc", "");
  bench.write("README.md", "");
  EXPECT_THAT(trouble("src/guard/rule.cc"), HasSubstr("Did you mean src/guard/rules.cc?"));
  EXPECT_THAT(trouble("src/gard/rules.cc"),
              AllOf(HasSubstr("no src/gard in"), HasSubstr("Did you mean src/guard?")));
  EXPECT_THAT(trouble("readme.md"), HasSubstr("Did you mean README.md?"));
  EXPECT_THAT(trouble("quite/another"), HasSubstr("Use Glob or List"));
}

TEST_F(WorkspacePath, NearNamesDoNotBetrayWhatIsWithheld) {
  bench.write("secrets", "");
  bench.session.permissions = Rules({Rule{Decision::deny, "Read", "secrets"}}).to_json();
  EXPECT_THAT(trouble("secret"), Not(HasSubstr("secrets")));
}

TEST_F(WorkspacePath, IsShownOnOneLine) {
  EXPECT_EQ(shown_path("a\nb\tc\x1b[1m"), "a␊b␉c␛[1m");
  EXPECT_EQ(shown_path("a\xff"), "a\uFFFD");
}

TEST(Sight, ShowsNothingOutsideTheWorkspace) {
  const Sight sight = Sight::of(Session{}).value();
  EXPECT_TRUE(sight.shows("Grep", "a/b"));
  for (const char* path : {"", "/a", "../a", "a/../../b", ".."})
    EXPECT_FALSE(sight.shows("Grep", path)) << path;
}

TEST(Sight, FollowsTheRulesOfReadAndOfTheTool) {
  Session session;
  session.permissions =
      Rules({Rule{Decision::deny, "Read", "**/.env"}, Rule{Decision::ask, "Read", "private/**"},
             Rule{Decision::deny, "Grep", "big/**"}})
          .to_json();
  const Sight sight = Sight::of(session).value();
  EXPECT_FALSE(sight.shows("Grep", "a/.env"));
  EXPECT_FALSE(sight.shows("Grep", "private/a"));
  EXPECT_FALSE(sight.shows("Grep", "big/a"));
  EXPECT_TRUE(sight.shows("Glob", "big/a"));
}

TEST(Sight, RulesThatCannotBeReadAreAnError) {
  Session session;
  session.permissions = "{";
  EXPECT_FALSE(Sight::of(session));
}

}  // namespace
}  // namespace deputy
