// Tests that the seed designs list themselves, under their own names; README.md here says where the others
// are.
#include "base/json.h"
#include "profiles_on_a_tree.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// S2.
using SeedTwo = ProfilesOnATree;

TEST_F(SeedTwo, DefinitionListsDeclaredSubagents) {
  add({.name = "reviewer", .description = "Review changes."});
  add({.name = "classifier", .description = "Classify issues."});
  script(root_calls("reviewer") + agent_says("reviewer"));
  ASSERT_TRUE(go());
  EXPECT_THAT(task_text("main"),
              AllOf(HasSubstr("- reviewer: Review changes."), HasSubstr("- classifier: Classify issues.")));
}

TEST_F(SeedTwo, DefinitionHandlesNoSubagents) {
  add({.name = "lead", .subagents = {"gone"}});
  script(root_calls("lead") + agent_says("lead"));
  ASSERT_TRUE(go());
  EXPECT_THAT(task_text("lead"), HasSubstr("(none declared)"));
}

TEST_F(SeedTwo, DefinitionSchemaRequiresAgentAndPrompt) {
  script(
      R"({"match":{"depth":0},"replies":[{"calls":[{"name":"task","arguments":{"prompt":"x"}},{"name":"task","arguments":{"agent":"explore"}},
    {"name":"task","arguments":{"agent":"explore","prompt":"x","mode":"fast"}}]},{"text":"done"}]})");
  ASSERT_TRUE(go());
  EXPECT_THAT(told("main", 0), HasSubstr("agent"));
  EXPECT_THAT(told("main", 1), HasSubstr("prompt"));
  EXPECT_THAT(told("main", 2), HasSubstr("mode"));
  EXPECT_EQ(world.sessions().size(), 1u);
}

TEST_F(SeedTwo, UnknownAgentReturnsError) {
  add({.name = "reviewer"});
  script(root_calls("ghost"));
  ASSERT_TRUE(go());
  EXPECT_THAT(told("main"), AllOf(HasSubstr("not declared"), HasSubstr("ghost"), HasSubstr("reviewer")));
}

TEST_F(SeedTwo, DelegateRunsChildAndReturnsText) {
  add({.name = "worker"});
  script(root_calls("worker") + agent_says("worker", R"({"text":"child done"})"));
  ASSERT_TRUE(go());
  EXPECT_THAT(told("main"), AllOf(HasSubstr("## Subagent Result (worker)"), HasSubstr("child done")));
}

TEST_F(SeedTwo, IntegrationParentDelegatesAndChildAnswers) {
  add({.name = "worker"});
  script(
      R"({"match":{"depth":0},"replies":[{"calls":[{"name":"task","arguments":{"agent":"worker","prompt":"do the work"}}]},
    {"expect":{"contains":"child done"},"text":"got: child done"}]})" +
      agent_says("worker", R"({"text":"child done"})"));
  const auto report = go();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->steps, 2);
  EXPECT_EQ(report->body, "got: child done");
}

// S4.
using SeedFour = ProfilesOnATree;

TEST_F(SeedFour, CreateSubSessionSetsCorrectParentRelationship) {
  script(root_calls("explore") + agent_says("explore"));
  ASSERT_TRUE(go());
  EXPECT_EQ(child("explore").parent, child("main").id);
  EXPECT_EQ(child("explore").tree, child("main").id);
  EXPECT_EQ(child("explore").prompt, "work");
}

TEST_F(SeedFour, ExecuteSubSessionInheritsParentPermissions) {
  script(
      root_calls("general") +
      agent_says("general", R"({"calls":[{"name":"Bash","arguments":{"command":"true"}}]},{"text":"ok"})"));
  ASSERT_TRUE(go({*parse_rule(Decision::deny, "bash:*")}));
  EXPECT_THAT(told("general"), HasSubstr("denied"));
}

TEST_F(SeedFour, SubAgentCannotSpawnSubagents) {
  for (const auto* agent : {"general", "explore", "planner", "researcher"}) {
    world = {};
    script(root_calls(agent) +
           agent_says(agent, R"({"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"x"}},
             {"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"b"}]}},{"name":"spawn_subagent","arguments":{"agent":"explore","task":"x"}}]},{"text":"ok"})"));
    ASSERT_TRUE(go());
    EXPECT_EQ(world.sessions().size(), 2u) << agent;
  }
}

TEST_F(SeedFour, TaskToolExecutesSubagentAndReturnsResult) {
  script(root_calls("planner") + agent_says("planner", R"({"text":"the plan"})"));
  ASSERT_TRUE(go());
  EXPECT_THAT(told("main"), AllOf(HasSubstr("## Subagent Result (planner)"), HasSubstr("the plan")));
}

TEST_F(SeedFour, BackgroundSubagentEmitsProgressEvents) {
  script(root_calls("explore", R"(,"run_in_background":true)") +
         agent_says("explore",
                    R"({"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}]},{"text":"found it"})"));
  ASSERT_TRUE(go());
  std::vector<std::string> told_of;
  for (const auto& event : world.memory->journal) {
    if (event.run.session != child("explore").id) continue;
    for (const auto& line : to_lines(event, {child("main").id, "explore", "explore"})) {
      EXPECT_EQ(string_at(line, "session_id"), child("explore").id.value);
      EXPECT_EQ(string_at(line, "parent_id"), child("main").id.value);
      told_of.push_back(string_or(line, "event", ""));
    }
  }
  EXPECT_THAT(told_of,
              testing::IsSupersetOf({"session.created", "started", "tool_call", "step", "session.progress",
                                     "session.completed", "completed", "cleaned"}));
}

}  // namespace
}  // namespace deputy
