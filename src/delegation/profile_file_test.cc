#include "delegation/profile_file.h"

#include <limits>

#include "delegation/profile_node.h"
#include "delegation/profile_test.h"
#include "delegation/profiles.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
compact: true
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
  EXPECT_EQ(profile.compact, true);
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
  EXPECT_THAT(own("tools: [write_todos, Bash, TaskOutput, TaskStop]").profile.tools,
              ElementsAre("Todo", "Bash", "task_status", "task_cancel", "Note"));
}

TEST(ToolSpellings, AnUnknownToolIsNamedWithItsLineAndMakesTheProfileUnusable) {
  const auto read = own("name: x\ntools:\n  - Read\n  - Raed");
  ASSERT_EQ(read.no_tools.size(), 1u);
  EXPECT_THAT(read.no_tools.front().message, HasSubstr("line 5: there is no tool Raed; did you mean Read?"));
  EXPECT_THAT(warnings(read), ElementsAre()) << "it is told once";
  EXPECT_THAT(unknown_tools(read.profile), ElementsAre("Raed"));
}

TEST(ProfileFile, EveryMistakeIsNamedOnALineOfItsOwn) {
  const Error one = own_mistake("max_turns: many");
  EXPECT_THAT(one.advice, HasSubstr("a whole number")) << "one alone stands as it is";
  const Error all = own_mistake(
      "max_turns: many\nreentrant: perhaps\npermissions: {deny: 'Raed(x)'}\noutput_schema: {type: "
      "nonsense}\ntimeout: soon");
  for (const auto* mistake :
       {"line 2: max_turns", "line 3: reentrant", "there is no tool", "output_schema", "line 6: timeout"})
    EXPECT_THAT(all.message, HasSubstr(mistake));
  EXPECT_EQ(std::ranges::count(all.message, '\n'), 4) << all.message;
  EXPECT_THAT(
      mistake(ProfileFormat::claude, "---\nname: a\nmaxTurns: many\ndisallowedTools: Wriet\n---\nx").message,
      HasSubstr("there is no tool Wriet"));
}

TEST(ProfileFile, NoMistakeHidesAnother) {
  const Error all = own_mistake(
      "name: '---'\ntools: [Read, Raed, 'Bash(']\ndisallowed_tools: [Wriet, Bahs]\npermissions:\n  deny: "
      "['Grpe(x)', 'Golb(x)']\n  dney: [Bash]\nmax_turns: many");
  for (const auto* mistake :
       {"is no name", "line 3: there is no tool Raed", "line 4: there is no tool Wriet",
        "line 4: there is no tool Bahs", "Grpe", "Golb", "did you mean deny?", "line 8: max_turns"})
    EXPECT_THAT(all.message, HasSubstr(mistake));
  const auto foreign = mistake(ProfileFormat::opencode,
                               "---\ntools: {wriet: false, read: never}\npermission: {bash: maybe, edit: "
                               "perhaps}\nsteps: many\n---\nx");
  for (const auto* mistake :
       {"no tool wriet", "tools.read", "permission.bash", "permission.edit", "steps is 'many'"})
    EXPECT_THAT(foreign.message, HasSubstr(mistake));
  const auto nameless = mistake(ProfileFormat::claude, "---\nmaxTurns: many\ntools: [Raed]\n---\nx");
  EXPECT_THAT(nameless.message, AllOf(HasSubstr("it has no name"), HasSubstr("maxTurns"), HasSubstr("Raed")));
}

TEST(ToolSpellings, AnUnknownNameAmongWhatIsTakenAwayMakesTheProfileUnusable) {
  const Error wrong = own_mistake("tools: [Read, Bash]\ndisallowed_tools: [Bahs]");
  EXPECT_THAT(wrong.message, HasSubstr("line 3: there is no tool Bahs; did you mean Bash?"));
  EXPECT_THAT(own_mistake("disallowed_tools: [Teleport(x:*)]").message,
              HasSubstr("there is no tool Teleport"));
  EXPECT_THAT(mistake(ProfileFormat::claude, "---\nname: a\ndisallowedTools: Wriet\n---\nx").message,
              HasSubstr("line 3: there is no tool Wriet"));
  const auto known = own("tools: [Read, Bash, Write]\ndisallowed_tools: [run, Skill, mcp__x__y, Task]");
  EXPECT_THAT(known.profile.tools, ElementsAre("Read", "Write", "Note")) << "control: what is known";
  EXPECT_THAT(own("tools: [Read]\ndisallowed_tools: ['*']").profile.tools, ElementsAre("Note"));
}

TEST(ToolSpellings, AToolOfAnotherProgramWithoutALikeHereIsLeftOut) {
  const auto read = own("tools: Read, Skill, mcp__github__search");
  EXPECT_THAT(read.profile.tools, ElementsAre("Read", "Note"));
  EXPECT_THAT(read.ignored, ElementsAre("the tool Skill"));
  EXPECT_THAT(warnings(read), ElementsAre(HasSubstr("no MCP server")));
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
