// Profiles of other programs: what is mapped, what is left out, and what is told of it.
#include <array>

#include "base/random.h"
#include "delegation/profile_inheritance.h"
#include "delegation/profile_test.h"
#include "guard/rules.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST(ClaudeProfile, IsReadWithItsOwnKeys) {
  const auto read = deputy::read_profile(ProfileFormat::claude, R"(---
name: code-reviewer
description: Use proactively after changes.
tools: Read, Grep, Bash(git diff:*, git log:*), Agent(explore, planner)
disallowedTools: Grep
model: sonnet
maxTurns: 12
isolation: worktree
color: blue
hooks:
  Stop: []
sparkle: yes
---
You review.)",
                                         "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->profile.name, "code-reviewer");
  EXPECT_THAT(read->profile.tools, ElementsAre("Read", "Bash", "Note"));
  EXPECT_THAT(read->profile.permissions.allow, ElementsAre("Bash(git diff:*)", "Bash(git log:*)"));
  EXPECT_THAT(read->profile.subagents, ElementsAre("explore", "planner"));
  EXPECT_THAT(read->profile.model->value, ::testing::StartsWith("anthropic/claude-sonnet-"));
  EXPECT_EQ(read->profile.max_turns, 12);
  EXPECT_EQ(read->profile.workspace, WorkspaceMode::worktree);
  EXPECT_THAT(read->mapped,
              AllOf(Contains("maxTurns → max_turns"), Contains("disallowedTools → disallowed_tools"),
                    Contains("isolation worktree → workspace worktree")));
  EXPECT_THAT(read->ignored, UnorderedElementsAre("color", "hooks"));
  EXPECT_THAT(warnings(*read), ElementsAre(HasSubstr("12: unknown key sparkle")));
}

TEST(ClaudeProfile, WithoutToolsItHasThemAllButDelegatesToNobody) {
  const Profile profile = read(ProfileFormat::claude, "---\nname: a\nmodel: inherit\n---\nx").profile;
  EXPECT_THAT(profile.tools, AllOf(Contains("Bash"), Contains("Write"), Contains("WebFetch")));
  EXPECT_THAT(profile.subagents, IsEmpty());
  EXPECT_FALSE(profile.model);
}

TEST(ClaudeProfile, AColonThatYamlDoesNotAllowIsReadLineByLine) {
  const auto read = deputy::read_profile(
      ProfileFormat::claude,
      "---\nname: helper\ndescription: Use it when: a user asks. Examples: <example>Context: none</example>\n"
      "tools:\n- Read\n- Grep\n---\nHelp.",
      "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->profile.name, "helper");
  EXPECT_THAT(read->profile.description, HasSubstr("when: a user asks"));
  EXPECT_THAT(read->profile.tools, ElementsAre("Read", "Grep", "Note"));
  EXPECT_THAT(warnings(*read), ElementsAre(AllOf(HasSubstr("line 3"), HasSubstr("line by line"))));
}

TEST(ClaudeProfile, ACommentIsNoPartOfAValueThatIsReadLineByLine) {
  const auto read = deputy::read_profile(ProfileFormat::claude,
                                         "---\nname: cmt\n# a comment\ndescription: Use when: foo happens\n"
                                         "  # another\ntools: |-\n  Read\n---\nx",
                                         "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->profile.name, "cmt");
  EXPECT_EQ(read->profile.description, "Use when: foo happens");
  EXPECT_THAT(read->profile.tools, ElementsAre("Read", "Note"));
  const auto block = deputy::read_profile(ProfileFormat::claude,
                                          "---\nname: a\nmodel: x: y\ndescription: |\n  # kept\n---\nx", "x");
  ASSERT_TRUE(block) << block.error().message;
  EXPECT_EQ(block->profile.description, "# kept") << "in a text that stands as it is";
}

TEST(ClaudeProfile, APermissionModeThatNobodyKnowsIsRefused) {
  EXPECT_THAT(mistake(ProfileFormat::claude, "---\nname: a\npermissionMode: readonly\n---\nx").message,
              HasSubstr("line 3: permissionMode is 'readonly'"));
}

TEST(ClaudeProfile, CannotAllowItselfMore) {
  const auto read = deputy::read_profile(ProfileFormat::claude,
                                         "---\nname: a\npermissionMode: bypassPermissions\n---\nx", "x");
  ASSERT_TRUE(read);
  EXPECT_THAT(warnings(*read), ElementsAre(HasSubstr("cannot allow itself")));
  EXPECT_TRUE(read->profile.permissions.empty());
  EXPECT_EQ(deputy::read_profile(ProfileFormat::claude, "---\nname: a\npermissionMode: plan\n---\nx", "x")
                ->profile.workspace,
            WorkspaceMode::read_only);
}

TEST(OpencodeProfile, IsReadWithItsOwnKeys) {
  const auto read = deputy::read_profile(ProfileFormat::opencode, R"(---
description: Reviews
mode: subagent
model: google/gemini-2.5-pro
steps: 9
temperature: 0.1
tools:
  write: false
  webfetch: false
permission:
  bash:
    "*": ask
    "git status*": allow
    "git push": deny
  webfetch: deny
reasoningEffort: high
---
Review.)",
                                         "team/reviewer");
  ASSERT_TRUE(read) << read.error().message;
  const Profile& profile = read->profile;
  EXPECT_EQ(profile.name, "team/reviewer");
  EXPECT_EQ(profile.model, ModelName("gemini/gemini-2.5-pro"));
  EXPECT_EQ(profile.max_turns, 9);
  EXPECT_THAT(profile.tools, AllOf(Contains("Bash"), Not(Contains("Write")), Not(Contains("Edit")),
                                   Not(Contains("WebFetch"))));
  EXPECT_THAT(profile.permissions.allow, ElementsAre("Bash(git status:*)"));
  EXPECT_THAT(profile.permissions.ask, IsEmpty());
  EXPECT_THAT(profile.permissions.deny, UnorderedElementsAre("Bash(git push)", "WebFetch"));
  EXPECT_THAT(read->ignored, ElementsAre("temperature"));
  EXPECT_THAT(warnings(*read), ElementsAre(HasSubstr("unknown key reasoningEffort")));
  EXPECT_FALSE(profile.hidden);
}

TEST(OpencodeProfile, ToolsOfServersAreLeftOutAndPatternsOfNamesAreRead) {
  const auto read = deputy::read_profile(
      ProfileFormat::opencode,
      "---\ntools:\n  \"context7*\": true\n  github_search: false\n  web*: False\n  write: No\n---\nx", "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->profile.tools,
              AllOf(Contains("Read"), Contains("Bash"), Not(Contains("WebFetch")), Not(Contains("WebSearch")),
                    Not(Contains("Write")), Not(Contains("Edit"))));
  EXPECT_THAT(warnings(*read), ElementsAre(AllOf(HasSubstr("context7*"), HasSubstr("no MCP server")),
                                           AllOf(HasSubstr("github_search"), HasSubstr("no MCP server"))));
  EXPECT_THAT(mistake(ProfileFormat::opencode, "---\ntools:\n  wriet: false\n---\nx").message,
              HasSubstr("there is no tool wriet"));
  EXPECT_THAT(mistake(ProfileFormat::opencode, "---\ntools:\n  write: never\n---\nx").message,
              HasSubstr("tools.write is 'never'"));
}

TEST(OpencodeProfile, OnePermissionForAllIsARuleForEach) {
  const Profile denied = read(ProfileFormat::opencode, "---\npermission: deny\n---\nx").profile;
  EXPECT_THAT(denied.permissions.deny, AllOf(Contains("Bash"), Contains("Read"), Contains("Write")));
  EXPECT_TRUE(read(ProfileFormat::opencode, "---\npermission: allow\n---\nx").profile.permissions.empty());
  EXPECT_THAT(mistake(ProfileFormat::opencode, "---\npermission: maybe\n---\nx").message,
              HasSubstr("permission is 'maybe'"));
}

TEST(OpencodeProfile, APrimaryOneIsNotDelegatedToAndADisabledOneIsOff) {
  EXPECT_TRUE(read(ProfileFormat::opencode, "---\nmode: primary\n---\nx").profile.hidden);
  EXPECT_TRUE(read(ProfileFormat::opencode, "---\ndisable: true\n---\nx").is_disabled);
}

TEST(OpencodeProfile, AnExceptionFromAGeneralDenialStaysDeniedAndIsTold) {
  const auto read = deputy::read_profile(
      ProfileFormat::opencode, "---\npermission:\n  bash:\n    '*': deny\n    ls: allow\n---\nx", "x");
  ASSERT_TRUE(read);
  EXPECT_THAT(read->profile.permissions.deny, ElementsAre("Bash"));
  EXPECT_THAT(read->profile.permissions.allow, IsEmpty());
  EXPECT_THAT(warnings(*read), ElementsAre(HasSubstr("ls stays denied")));
}

TEST(OpencodeProfile, AGeneralAskIsARuleWhereNothingIsAllowedBesideIt) {
  const auto read = deputy::read_profile(
      ProfileFormat::opencode, "---\npermission:\n  bash:\n    '*': ask\n    'rm *': deny\n---\nx", "x");
  ASSERT_TRUE(read);
  EXPECT_THAT(read->profile.permissions.ask, ElementsAre("Bash"));
  EXPECT_THAT(read->profile.permissions.deny, ElementsAre("Bash(rm:*)"));
}

TEST(OpencodeProfile, AGeneralWordVoidsWhatStandsBeforeIt) {
  const auto read = deputy::read_profile(
      ProfileFormat::opencode, "---\npermission:\n  bash:\n    'git *': allow\n    '*': ask\n---\nx", "x");
  ASSERT_TRUE(read);
  EXPECT_THAT(read->profile.permissions.allow, IsEmpty());
  EXPECT_THAT(read->profile.permissions.ask, ElementsAre("Bash"));
}

// Theirs: the last pattern that fits; what none fits is allowed.
Decision in_opencode(const std::vector<std::pair<std::string, Decision>>& table, std::string_view subject) {
  Decision decision = Decision::allow;
  for (const auto& [pattern, said] : table) {
    const bool is_prefix = pattern.ends_with('*');
    const std::string_view words =
        is_prefix ? std::string_view(pattern).substr(0, pattern.size() - 1) : pattern;
    if (is_prefix ? subject.starts_with(words) : subject == words) decision = said;
  }
  return decision;
}

TEST(OpencodeProfile, IsNeverLessStrictThanItIsThere) {
  struct Tool {
    std::string theirs, ours;
    std::vector<std::string> patterns, subjects;
  };
  const std::vector<Tool> tools = {
      {"bash",
       "Bash",
       {"*", "git *", "git push *", "rm *", "ls"},
       {"git push x", "git status", "rm x", "ls", "cat a"}},
      {"read", "Read", {"*", "/work/src/*", "/work/b"}, {"/work/src/a", "/work/b", "/work/c"}}};
  Session parent;
  parent.permissions = Rules({{Decision::allow, "Bash", ""}}).to_json();
  SeededRandom random(11);
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    const Tool& tool = tools[random.below(tools.size())];
    std::vector<std::pair<std::string, Decision>> table;
    std::vector<std::string> left = tool.patterns;
    while (!left.empty() && random.below(5) > 0) {
      const auto at = left.begin() + static_cast<std::ptrdiff_t>(random.below(left.size()));
      table.emplace_back(*at, std::array{Decision::allow, Decision::ask, Decision::deny}[random.below(3)]);
      left.erase(at);
    }
    if (table.empty()) continue;
    std::string text = "---\npermission:\n  " + tool.theirs + ":\n";
    for (const auto& [pattern, decision] : table)
      text += "    \"" + pattern + "\": " + std::string(name_of(decision)) + "\n";
    const auto read = deputy::read_profile(ProfileFormat::opencode, text + "---\nx", "x");
    ASSERT_TRUE(read) << text << read.error().message;
    const auto child = inherited_session(parent, read->profile, {});
    ASSERT_TRUE(child) << child.error().message;
    const Rules rules = Rules::from_json(child->permissions).value();
    for (const auto& subject : tool.subjects) {
      const Decision ours = tool.ours == "Bash" ? rules.judge_command(subject, Decision::ask).decision
                                                : rules.judge(tool.ours, subject, Decision::allow).decision;
      EXPECT_GE(ours, in_opencode(table, subject)) << subject << " under\n" << text;
    }
  }
}

TEST(GeminiProfile, IsReadWithItsOwnKeys) {
  const auto read = deputy::read_profile(ProfileFormat::gemini, R"(---
name: scout
description: Looks around
kind: local
tools: [read_file, glob, google_web_search, mcp_github_search]
model: gemini-2.5-flash
max_turns: 5
timeout_mins: 3
temperature: 1
---
Look.)",
                                         "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->profile.tools, ElementsAre("Read", "Glob", "WebSearch", "Note"));
  EXPECT_EQ(read->profile.model, ModelName("gemini/gemini-2.5-flash"));
  EXPECT_EQ(read->profile.max_turns, 5);
  EXPECT_EQ(read->profile.timeout, std::chrono::minutes(3));
  EXPECT_FALSE(read->profile.kind);
  EXPECT_EQ(read->profile.workspace, WorkspaceMode::read_only);
}

TEST(GeminiProfile, ARemoteAgentIsRefused) {
  EXPECT_THAT(mistake(ProfileFormat::gemini, "---\nkind: remote\nname: a\n---\n").message,
              HasSubstr("remote"));
}

TEST(CodexProfile, IsReadWithItsOwnKeys) {
  const auto read = deputy::read_profile(ProfileFormat::codex, R"(name = "fixer"
description = "Fixes things"
developer_instructions = """
Fix it – carefully.
"""
model = "gpt-5-codex"
model_reasoning_effort = "high"
sandbox_mode = "read-only"
wild = [1, 2]
)",
                                         "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->profile.name, "fixer");
  EXPECT_EQ(read->profile.instructions, "Fix it – carefully.");
  EXPECT_EQ(read->profile.model, ModelName("openai/gpt-5-codex"));
  EXPECT_EQ(read->profile.workspace, WorkspaceMode::read_only);
  EXPECT_THAT(read->ignored, ElementsAre("model_reasoning_effort"));
  EXPECT_THAT(warnings(*read), ElementsAre(HasSubstr("9: unknown key wild")));
}

TEST(CodexProfile, TheSandboxTakesTheNetworkAwayWhereItsFileSaysSo) {
  const auto network = [](std::string_view file) { return read(ProfileFormat::codex, file).profile.network; };
  EXPECT_TRUE(network("developer_instructions = \"x\"\n"));
  EXPECT_TRUE(network("sandbox_mode = \"workspace-write\"\n"));
  EXPECT_TRUE(network("[sandbox_workspace_write]\nnetwork_access = true\n"));
  EXPECT_FALSE(network("sandbox_mode = \"read-only\"\n"));
  EXPECT_FALSE(network("sandbox_mode = \"read-only\"\n[sandbox_workspace_write]\nnetwork_access = true\n"));
  EXPECT_FALSE(
      network("sandbox_mode = \"workspace-write\"\n[sandbox_workspace_write]\nnetwork_access = false\n"));
}

TEST(CodexProfile, ASandboxThatNobodyKnowsIsRefused) {
  EXPECT_THAT(mistake(ProfileFormat::codex, "sandbox_mode = \"readonly\"\n").message,
              HasSubstr("sandbox_mode is 'readonly'"));
  EXPECT_THAT(warnings(read(ProfileFormat::codex, "sandbox_mode = \"danger-full-access\"\n")),
              Contains(HasSubstr("counts as workspace-write")));
}

TEST(CodexProfile, WhatIsNoTomlIsToldWithItsLine) {
  EXPECT_THAT(mistake(ProfileFormat::codex, "name = \"x\"\n= 3\n").message, HasSubstr("2: this is not TOML"));
}

}  // namespace
}  // namespace deputy
