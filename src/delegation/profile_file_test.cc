#include "delegation/profile_file.h"

#include <gmock/gmock.h>

#include <limits>

#include "delegation/profile_node.h"
#include "delegation/profiles.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

ReadProfile read(ProfileFormat format, std::string_view text) {
  auto read = read_profile(format, text, "file-name");
  EXPECT_TRUE(read) << read.error().message;
  return read ? *std::move(read) : ReadProfile{};
}
ReadProfile own(const std::string& head) {
  return read(ProfileFormat::deputy, "---\n" + head + "\n---\nDo it.\n");
}
Error mistake(ProfileFormat format, std::string_view text) {
  const auto read = read_profile(format, text, "file-name");
  EXPECT_FALSE(read) << text;
  return read ? Error{} : read.error();
}
Error own_mistake(const std::string& head) {
  return mistake(ProfileFormat::deputy, "---\n" + head + "\n---\nDo it.\n");
}
std::vector<std::string> warnings(const ReadProfile& read) {
  std::vector<std::string> texts;
  for (const auto& warning : read.warnings)
    texts.push_back(std::to_string(warning.line) + ": " + warning.text);
  return texts;
}

TEST(OwnProfile, EveryKeyIsRead) {
  const auto read = own(R"(name: reviewer
description: Reviews changes.
model: anthropic/claude-sonnet-5
tools: [Read, Grep, Edit, Bash, Note]
disallowed_tools: Bash
subagents: [explore, planner]
permissions:
  allow: ['Edit(src/**)']
  ask: [WebFetch]
  deny: ['Read(!docs/**)']
on_ask: deny
workspace: worktree
kind: planning
timeout: 10m
max_turns: 7
max_output_tokens: 2000
max_context_tokens: 50000
max_messages: 40
returns: report
output_schema:
  type: object
  properties: {verdict: {type: string}}
  required: [verdict]
reentrant: true
network: true)");
  const Profile& profile = read.profile;
  EXPECT_EQ(profile.name, "reviewer");
  EXPECT_EQ(profile.description, "Reviews changes.");
  EXPECT_EQ(profile.instructions, "Do it.");
  EXPECT_EQ(profile.model, ModelName("anthropic/claude-sonnet-5"));
  EXPECT_THAT(profile.tools, ElementsAre("Read", "Grep", "Edit", "Note"));
  EXPECT_THAT(profile.subagents, ElementsAre("explore", "planner"));
  EXPECT_THAT(profile.permissions.allow, ElementsAre("Edit(src/**)"));
  EXPECT_THAT(profile.permissions.ask, ElementsAre("WebFetch"));
  EXPECT_THAT(profile.permissions.deny, ElementsAre("Read(!docs/**)"));
  EXPECT_EQ(profile.on_ask, OnAsk::deny);
  EXPECT_EQ(profile.workspace, WorkspaceMode::worktree);
  EXPECT_EQ(profile.kind, WorkKind::planning);
  EXPECT_EQ(profile.timeout, std::chrono::minutes(10));
  EXPECT_EQ(profile.max_turns, 7);
  EXPECT_EQ(profile.max_output_tokens, 2000);
  EXPECT_EQ(profile.max_context_tokens, 50000);
  EXPECT_EQ(profile.max_messages, 40);
  EXPECT_EQ(profile.returns, Returns::report);
  EXPECT_THAT(profile.output_schema, HasSubstr(R"("required":["verdict"])"));
  EXPECT_TRUE(profile.reentrant);
  EXPECT_TRUE(profile.network);
  EXPECT_THAT(read.warnings, IsEmpty());
  EXPECT_THAT(read.ignored, IsEmpty());
}

TEST(OwnProfile, WhatIsAbsentIsLeftToBeInherited) {
  const Profile profile = own("description: x").profile;
  EXPECT_EQ(profile.name, "file-name");
  EXPECT_FALSE(profile.model || profile.kind || profile.timeout || profile.max_turns ||
               profile.max_output_tokens);
  EXPECT_THAT(profile.subagents, IsEmpty());
  EXPECT_EQ(profile.on_ask, OnAsk::person);
}

TEST(OwnProfile, WithoutToolsItOnlyReads) {
  const Profile profile = own("description: x").profile;
  EXPECT_THAT(profile.tools, ElementsAre("Read", "Grep", "Glob", "List", "Note"));
  EXPECT_EQ(profile.workspace, WorkspaceMode::read_only);
  EXPECT_FALSE(profile.network);
}

TEST(OwnProfile, WhoMayChangeThingsSharesTheWorkspaceUnlessItSaysMore) {
  EXPECT_EQ(own("tools: Read, Edit").profile.workspace, WorkspaceMode::shared);
  EXPECT_EQ(own("tools: Read, Edit\nworkspace: scratch").profile.workspace, WorkspaceMode::scratch);
}

TEST(OwnProfile, AnUnknownKeyIsKeptAndWarnedOfNeverFatal) {
  const auto read = own("descripton: x\nfavourite: {colour: red, n: 3}");
  EXPECT_THAT(warnings(read), ElementsAre(HasSubstr("2: unknown key descripton; did you mean description?"),
                                          HasSubstr("3: unknown key favourite")));
  EXPECT_EQ(read.unknown.at("favourite").at("n").as_int64(), 3);
}

TEST(OwnProfile, AValueThatCannotBeMeantIsToldWithItsLine) {
  EXPECT_THAT(own_mistake("name: x\nmax_turns: many").message, HasSubstr("line 3: max_turns is 'many'"));
  EXPECT_THAT(own_mistake("max_turns: 0").message, HasSubstr("max_turns is '0'"));
  EXPECT_THAT(own_mistake("workspace: mine").advice, HasSubstr("read_only or scratch or worktree or shared"));
  EXPECT_THAT(own_mistake("timeout: soon").message, HasSubstr("timeout"));
  EXPECT_THAT(own_mistake("network: maybe").advice, HasSubstr("true or false"));
  EXPECT_THAT(own_mistake("tools: {a: b}").message, HasSubstr("tools is a table"));
  EXPECT_THAT(own_mistake("permissions:\n  deny: ['Nothing(']").message, HasSubstr("line 3"));
  EXPECT_THAT(own_mistake("permissions:\n  dney: [Bash]").message, HasSubstr("did you mean deny?"));
  EXPECT_THAT(own_mistake("output_schema: {type: nonsense}").message, HasSubstr("output_schema"));
}

TEST(OwnProfile, NoneIsNoLimitAndIsNotAbsent) {
  const Profile profile = own("timeout: none\nmax_turns: none").profile;
  EXPECT_EQ(profile.timeout, kNoTimeout);
  EXPECT_EQ(profile.max_turns, std::numeric_limits<int>::max());
  EXPECT_EQ(own("timeout: 90").profile.timeout, std::chrono::seconds(90));
}

TEST(OwnProfile, ASchemaMayBeJsonText) {
  EXPECT_EQ(own(R"(output_schema: '{"type":"object"}')").profile.output_schema, R"({"type":"object"})");
}

TEST(OwnProfile, WithoutFrontMatterItIsNone) {
  EXPECT_THAT(mistake(ProfileFormat::deputy, "Just text.").message, HasSubstr("front matter"));
  EXPECT_THAT(mistake(ProfileFormat::deputy, "---\nname: x\n").message, HasSubstr("does not end"));
}

TEST(ToolSpellings, OfOtherProgramsAreMapped) {
  const auto read = own("tools: [read_file, LS, run_shell_command, todowrite, search_file_content]");
  EXPECT_THAT(read.profile.tools, ElementsAre("Read", "List", "Bash", "Todo", "Grep", "Note"));
  EXPECT_THAT(read.mapped, Contains("LS → List"));
}

TEST(ToolSpellings, AnUnknownToolIsNamedWithItsLineAndMakesTheProfileUnusable) {
  const auto read = own("name: x\ntools:\n  - Read\n  - Raed");
  EXPECT_THAT(warnings(read), ElementsAre(HasSubstr("5: there is no tool Raed; did you mean Read?")));
  EXPECT_THAT(unknown_tools(read.profile), ElementsAre("Raed"));
}

TEST(ToolSpellings, AToolOfAnotherProgramWithoutALikeHereIsLeftOut) {
  const auto read = own("tools: Read, Skill, mcp__github__search");
  EXPECT_THAT(read.profile.tools, ElementsAre("Read", "Note"));
  EXPECT_THAT(read.ignored, ElementsAre("the tool Skill"));
  EXPECT_THAT(warnings(read), ElementsAre(HasSubstr("no MCP server")));
}

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

TEST(CodexProfile, WhatIsNoTomlIsToldWithItsLine) {
  EXPECT_THAT(mistake(ProfileFormat::codex, "name = \"x\"\n= 3\n").message, HasSubstr("2: this is not TOML"));
}

TEST(ProfileName, IsOneThatCanBeTyped) {
  const auto read = own("name: Code Reviewer (v2)");
  EXPECT_EQ(read.profile.name, "Code-Reviewer-v2");
  EXPECT_THAT(warnings(read), ElementsAre(HasSubstr("Code-Reviewer-v2")));
  EXPECT_THAT(own_mistake("name: '---'").message, HasSubstr("no name"));
  EXPECT_EQ(own("name: " + std::string(64, 'a')).profile.name.size(), 64u);
  EXPECT_THAT(own_mistake("name: " + std::string(65, 'a')).message, HasSubstr("no name"));
}

TEST(ProfileBounds, AFileOfTheMostBytesIsReadAndOneMoreIsNot) {
  const std::string head = "---\nname: x\n---\n";
  const std::string most = head + std::string(kMostProfileBytes - head.size(), 'a');
  EXPECT_TRUE(read_profile(ProfileFormat::deputy, most, "x"));
  EXPECT_THAT(mistake(ProfileFormat::deputy, most + "a").message, HasSubstr("larger than"));
}

TEST(ProfileBounds, AHeadOfTheMostBytesIsReadAndOneMoreIsNot) {
  const auto with_head = [](std::size_t bytes) {
    std::string head = "name: x\n#";
    head += std::string(bytes - head.size() - 1, 'a') + "\n";
    return "---\n" + head + "---\nx";
  };
  EXPECT_TRUE(read_profile(ProfileFormat::deputy, with_head(kMostHeadBytes), "x"));
  EXPECT_THAT(mistake(ProfileFormat::deputy, with_head(kMostHeadBytes + 1)).message,
              HasSubstr("front matter"));
}

TEST(ProfileBounds, NestingHasAnEnd) {
  const auto nested = [](int depth) {
    return "k: " + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(read_yaml(nested(kMostNodeDepth - 1), 1));  // the table itself is one
  EXPECT_THAT(read_yaml(nested(kMostNodeDepth), 1).error().message, HasSubstr("nested"));
}

TEST(ProfileBounds, ValuesAreCounted) {
  const auto list = [](std::size_t values) {
    std::string text = "k: [";
    for (std::size_t i = 0; i < values; ++i) text += "a,";
    return text + "]";
  };
  EXPECT_TRUE(read_yaml(list(kMostNodes - 3), 1));  // the table, its key, the list
  EXPECT_THAT(read_yaml(list(kMostNodes - 2), 1).error().message, HasSubstr("values"));
}

TEST(ProfileBounds, AnAliasMultipliesNothing) {
  EXPECT_THAT(read_yaml("a: &a [x, x]\nb: *a", 1).error().message,
              AllOf(HasSubstr("line 2"), HasSubstr("aliases")));
  EXPECT_FALSE(read_yaml("a: &a [*a]", 1));
}

}  // namespace
}  // namespace deputy
