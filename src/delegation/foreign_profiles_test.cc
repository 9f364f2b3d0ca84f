// Profiles of other programs: what is mapped, what is left out, and what is told of it.
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

TEST(ClaudeProfile, ACommentAfterAValueIsNoPartOfItEither) {
  const auto read =
      deputy::read_profile(ProfileFormat::claude,
                           "---\nname: a # the first\ndescription: Use when: issue #1 # is open\n"
                           "tools: Read, Grep  # only these\n---\nx",
                           "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->profile.name, "a");
  EXPECT_EQ(read->profile.description, "Use when: issue #1 # is open");
  EXPECT_THAT(read->profile.tools, ElementsAre("Read", "Grep", "Note"));
}

TEST(ClaudeProfile, NorIsItPartOfAnItemOfAListOrOfAValueInQuotes) {
  const auto read =
      deputy::read_profile(ProfileFormat::claude,
                           "---\nname: \"a\" # the first\ndescription: Use when: asked\n"
                           "model: 'claude # x'\ntools:\n- Read # to look\n- \"Grep\"  # too\n---\nx",
                           "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->profile.name, "a");
  EXPECT_EQ(read->profile.model, ModelName("anthropic/claude # x")) << "in quotes it is none";
  EXPECT_THAT(read->profile.tools, ElementsAre("Read", "Grep", "Note"));
}

TEST(ClaudeProfile, APermissionModeThatNobodyKnowsIsRefused) {
  EXPECT_THAT(mistake(ProfileFormat::claude, "---\nname: a\npermissionMode: readonly\n---\nx").message,
              HasSubstr("line 3: permissionMode is 'readonly'"));
}

TEST(ClaudeProfile, ItsPatternsMeanWhatTheyMeanThere) {
  const Profile profile = read(ProfileFormat::claude, R"(---
name: a
tools: Read, Edit(/docs/**), Write(notes.md), Bash(git diff*, npm test)
disallowedTools: Edit(/src/**), Read(.env), Read(keys/), Read(//etc/x), Read(~/.ssh/**), Read(a/{b}), Read(/!x), Bash(python*)
---
x)")
                              .profile;
  EXPECT_THAT(profile.permissions.allow,
              ElementsAre("Edit(docs/**)", "Write(**/notes.md)", "Bash(git diff:*)", "Bash(npm test)"));
  EXPECT_THAT(profile.permissions.deny,
              ElementsAre("Edit(src/**)", "Read(**/.env)", "Read(**/keys/)", "Read(/etc/x)",
                          "Read(~/.ssh/**)", "Read(a/\\{b\\})", "Read(\\!x)", "Bash(python*)"));
  Session parent;
  parent.permissions = Rules().to_json();
  const Rules rules = Rules::from_json(inherited_session(parent, profile, {})->permissions).value();
  const auto judged = [&](std::string_view tool, std::string_view subject) {
    return rules.judge(tool, subject, Decision::allow, {"/work", "/home/me"}).decision;
  };
  for (const auto* denied :
       {"/work/src/deep/.env", "/work/.env", "/work/a/keys/b/c", "/etc/x", "/work/a/{b}"})
    EXPECT_EQ(judged("Read", denied), Decision::deny) << denied;
  EXPECT_EQ(judged("Write", "/work/src/x.txt"), Decision::deny);
  EXPECT_EQ(judged("Bash", "python3 -V"), Decision::deny);
  EXPECT_EQ(judged("Read", "/work/a/b"), Decision::allow) << "control";
  EXPECT_EQ(judged("Read", "/work/src/x.txt"), Decision::allow) << "control";
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
  EXPECT_THAT(
      mistake(ProfileFormat::gemini, "---\n- kind: remote\n  name: a\n- kind: remote\n  name: b\n---\n")
          .message,
      HasSubstr("it is a list of remote agents"));
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
