#include "guard/paths.h"

#include <gtest/gtest.h>

#include "guard/rules.h"

namespace deputy {
namespace {

using enum Decision;

const Roots kRoots{"/home/me/work", "/home/me"};

Rule rule(Decision decision, std::string_view text) { return parse_rule(decision, text).value(); }

Decision judged(const Rules& rules, std::string_view tool, std::string_view path, Decision by_default = ask) {
  return rules.judge(tool, path, by_default, kRoots).decision;
}

TEST(Paths, ARuleHoldsForEverySpellingOfAName) {
  for (const char* text :
       {"Edit(src/**)", "Edit(/home/me/work/src/**)", "Edit(~/work/src/**)", "Edit(./src/)"}) {
    const Rules rules({rule(allow, text)});
    for (const char* path : {"src/a", "./src/a", "/home/me/work/src/a", "~/work/src/a",
                             "/home/me/work/../work/src/a", "../work/src/a"}) {
      EXPECT_EQ(judged(rules, "Edit", path), allow) << text << " " << path;
    }
    for (const char* path :
         {"lib/a", "/src/a", "/home/me/src/a", "~/src/a", "../src/a", "/home/me/workshop/src/a"}) {
      EXPECT_EQ(judged(rules, "Edit", path), ask) << text << " " << path;
    }
  }
}

TEST(Paths, RulesReachBeyondTheWorkspace) {
  const Rules rules(
      {rule(deny, "Read(~/.ssh/**)"), rule(deny, "Read(/etc/shadow)"), rule(deny, "Read(**/.env)")});
  for (const char* path : {"~/.ssh/id", "/home/me/.ssh/id", "../.ssh/id", "/etc/shadow", "/etc/../etc/shadow",
                           "a/.env", "/srv/.env", "~/.env"}) {
    EXPECT_EQ(judged(rules, "Read", path, allow), deny) << path;
  }
  EXPECT_EQ(judged(rules, "Read", "/etc/passwd", allow), allow);
  EXPECT_EQ(judged(Rules({rule(allow, "Read(/etc/**)")}), "Read", "/etc/hosts"), allow);
}

TEST(Paths, WithoutKnownRootsNothingIsCertain) {
  const Rules rules({rule(allow, "Read(/etc/**)"), rule(deny, "Edit(~/.ssh/**)"), rule(allow, "Edit")});
  EXPECT_EQ(rules.judge("Read", "etc/x", ask).decision, ask);
  EXPECT_EQ(rules.judge("Read", "/etc/x", ask).decision, allow);
  EXPECT_EQ(rules.judge("Edit", "id", ask).decision, deny);
  EXPECT_EQ(rules.judge("Edit", "/home/you/.ssh/id", ask).decision, deny);
}

TEST(Paths, CaseAndCompositionNeverGoRoundADenyAndNeverAllow) {
  const Rules rules(
      {rule(deny, "Read(secrets/**)"), rule(deny, "Read(caf\u00e9/**)"), rule(allow, "Edit(Src/**)")});
  for (const char* path : {"Secrets/a", "SECRETS/A", "secret\u017f/a", "cafe\u0301/a", "CAF\u00c9/a",
                           "sec\u200brets/a", "/home/me/WORK/secrets/a"}) {
    EXPECT_EQ(judged(rules, "Read", path, allow), deny) << path;
  }
  EXPECT_EQ(judged(rules, "Edit", "Src/a"), allow);
  EXPECT_EQ(judged(rules, "Edit", "src/a"), ask);
}

TEST(Paths, WritingProtectedNamesIsAskedAboutUnderABroadAllow) {
  const Rules broad({rule(allow, "Write"), rule(allow, "Edit(**)"), rule(allow, "NotebookEdit(!x)")});
  for (const char* path : {".git/hooks/pre-commit",
                           ".GIT/config",
                           ".git",
                           "a/b/.git/config",
                           ".deputy/agents/x.md",
                           ".claude/settings.json",
                           ".agent/settings.json",
                           ".bashrc",
                           "~/.bashrc",
                           "/home/me/.zshrc",
                           ".vscode/tasks.json",
                           ".mcp.json",
                           ".envrc",
                           ".git./config",
                           ".git /config",
                           ".g\u200cit/config",
                           "GIT~1/config",
                           "~/.ssh/authorized_keys",
                           ".Husky/pre-commit",
                           ".deputy/subagents",
                           ".deputy/subagents/agent_1",
                           ".deputy/subagents/agent_1/.git/config"}) {
    for (const char* tool : {"Write", "Edit", "NotebookEdit"})
      EXPECT_EQ(judged(broad, tool, path), ask) << path;
    EXPECT_EQ(judged(Rules(), "Write", path, allow), ask) << path;
    EXPECT_EQ(judged(Rules({rule(allow, "Read")}), "Read", path), allow) << path;
  }
  for (const char* path : {"git/hooks/x", ".gitignore", ".github/workflows/ci.yml", "a.git/config",
                           "src/profile", ".deputy/subagents/agent_1/notes.md", ".env"}) {
    EXPECT_EQ(judged(broad, "Write", path), allow) << path;
  }
}

TEST(Paths, ARuleThatNamesAProtectedNameAllowsIt) {
  const Rules named({rule(allow, "Write(.vscode/**)"), rule(allow, "Write(**)")});
  EXPECT_EQ(judged(named, "Write", ".vscode/settings.json"), allow);
  EXPECT_EQ(judged(named, "Write", "/home/me/work/.vscode/settings.json"), allow);
  EXPECT_EQ(judged(named, "Write", ".vscode/.git/config"), ask);
  EXPECT_EQ(judged(named, "Write", ".git/config"), ask);
  EXPECT_EQ(judged(Rules({rule(allow, "Write(.*/**)")}), "Write", ".vscode/x"), ask);
  EXPECT_EQ(judged(Rules({rule(allow, "Write(~/.bashrc)")}), "Write", "~/.bashrc"), allow);
  EXPECT_EQ(judged(Rules({rule(allow, "Write(.git/**)"), rule(deny, "Write(.git/hooks/)")}), "Write",
                   ".git/hooks/x"),
            deny);
}

TEST(Paths, AWorkspaceInsideAProtectedFolderIsNotProtectedItself) {
  const Roots roots{"/home/me/.claude/worktrees/a", "/home/me"};
  const Rules rules({rule(allow, "Write")});
  EXPECT_EQ(rules.judge("Write", "/home/me/.claude/worktrees/a/src/x", ask, roots).decision, allow);
  EXPECT_EQ(rules.judge("Write", "/home/me/.claude/x", ask, roots).decision, ask);
}

}  // namespace
}  // namespace deputy
