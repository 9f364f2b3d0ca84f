#include "tools/approval_rule.h"

#include <gtest/gtest.h>

#include "tools/bash.h"
#include "tools/edit.h"
#include "tools/tool_bench.h"

namespace deputy {
namespace {

class ApprovalRule : public testing::Test {
 protected:
  std::optional<std::string> for_command(std::string_view command) {
    return rule_that_allows(bash, {{"command", command}}, bench.context(), in_force);
  }
  std::optional<std::string> for_edit(const std::string& path) {
    ToolContext context = bench.context();
    context.target = find_target(*bench.workspace, {}, path).value();
    return rule_that_allows(edit, {{"file_path", path}}, context, in_force);
  }
  ~ApprovalRule() override { run(bench.loop, background.end_all()); }
  ToolBench bench;
  Rules in_force;
  BackgroundCommands background{bench.loop};
  BashTool bash{background};
  EditTool edit;
};

TEST_F(ApprovalRule, MeansThisVeryCall) {
  EXPECT_EQ(for_command("git status"), "Bash(git status)");
  EXPECT_EQ(for_command("npm test -- --watch=false"), "Bash(npm test -- --watch=false)");
  bench.write("src/a.cc", "x");
  EXPECT_EQ(for_edit("src/a.cc"), "Edit(src/a.cc)");
}

TEST_F(ApprovalRule, IsNotOfferedWhereItWouldMeanMore) {
  EXPECT_EQ(for_command("ls *"), std::nullopt);
  EXPECT_EQ(for_command("rm -rf build && npm ci"), std::nullopt) << "two commands are no one rule";
  EXPECT_EQ(for_command("echo x > y"), std::nullopt) << "a redirection is another's to allow";
  EXPECT_EQ(for_command("echo \u202e"), std::nullopt);
  EXPECT_EQ(for_command(std::string(201, 'x')), std::nullopt);
  EXPECT_EQ(for_command(std::string(200, 'x')), "Bash(" + std::string(200, 'x') + ")");
  bench.write("a[1].cc", "x");
  EXPECT_EQ(for_edit("a[1].cc"), std::nullopt);
}

TEST_F(ApprovalRule, IsOfTheOneCommandOfAChainThatIsStillAskedAbout) {
  EXPECT_EQ(for_command("cargo build 2>&1"), "Bash(cargo build)");
  EXPECT_EQ(for_command("make -j4 2>/dev/null; make -j4"), "Bash(make -j4)");
  EXPECT_EQ(for_command("git status && git diff"), std::nullopt) << "two commands are no one rule";
  in_force = Rules({{Decision::allow, "Bash", "git status:*"}, {Decision::allow, "Bash", "tail:*"}});
  EXPECT_EQ(for_command("git status -s && git diff"), "Bash(git diff)");
  EXPECT_EQ(for_command("cargo build 2>&1 | tail -5"), "Bash(cargo build)");
  EXPECT_EQ(for_command("git status | python3"), std::nullopt) << "what it is fed is no part of a rule";
  EXPECT_EQ(for_command("git status && make > log"), std::nullopt) << "a redirection is another's to allow";
  EXPECT_EQ(for_command("for f in *.c; do wc -l $f; done"), std::nullopt);
}

TEST_F(ApprovalRule, IsNotOfferedWhereWhatDecidesIsNoPartOfIt) {
  in_force = Rules({{Decision::allow, "Bash", "cat:*"},
                    {Decision::allow, "Bash", "cd:*"},
                    {Decision::allow, "Bash", "export DRY_RUN=1"}});
  for (const char* command :
       {"patch -p1 < fix.diff", "xargs rm < list", "cat l | xargs rm -r", "cat l | tee out", "cd sub && make",
        "cd sub; cat x; make", "cd sub && make | cat", "export DRY_RUN=1; ./deploy"})
    EXPECT_EQ(for_command(command), std::nullopt) << command;
  for (const auto& [command, rule] : std::initializer_list<std::pair<const char*, const char*>>{
           {"patch -p1 -i fix.diff", "Bash(patch -p1 -i fix.diff)"},
           {"make && cd sub && cat x", "Bash(make)"},
           {"cat x; make 2>&1 | cat", "Bash(make)"},
           {"cat x | head -5", "Bash(head -5)"}})
    EXPECT_EQ(for_command(command), rule) << command;
}

TEST_F(ApprovalRule, IsNotOfferedWhereAnotherRuleWouldAskAgain) {
  const char* command = "docker compose up -d";
  EXPECT_EQ(for_command(command), "Bash(docker compose up -d)") << "the control";
  in_force = Rules({{Decision::deny, "Bash", "rm:*"}});
  EXPECT_EQ(for_command(command), std::nullopt) << "it runs texts, and an option may be one";
  EXPECT_EQ(for_command("git status"), "Bash(git status)");
  in_force = Rules({{Decision::ask, "Bash", "git push:*"}});
  EXPECT_EQ(for_command("git push"), std::nullopt);
}

}  // namespace
}  // namespace deputy
