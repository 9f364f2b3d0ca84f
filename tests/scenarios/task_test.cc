// task: one child by profile, on the whole runtime.
#include <gmock/gmock.h>

#include "support/sim_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// What the parent's model was told by its call number `index` of its first step.
std::string told(const SimWorld& world, int index = 0) {
  for (const auto& event : world.memory->journal) {
    const auto* finished = std::get_if<CallFinished>(&event.fact);
    if (finished && event.step == 0 && event.call == index &&
        event.run.session == world.sessions().front().id)
      return finished->result.content;
  }
  return {};
}

class TaskCall : public testing::Test {
 protected:
  void parent_calls(std::string_view arguments, std::string_view child_replies = R"([{"text":"found it"}])",
                    std::string_view agent = "explore") {
    world.script =
        R"({"v":1,"sessions":[{"match":{"depth":0},"replies":[{"calls":[{"name":"task","arguments":)" +
        std::string(arguments) + R"(}]},{"text":"done"}]},{"match":{"agent":")" + std::string(agent) +
        R"("},"replies":)" + std::string(child_replies) + "}]}";
    world.write_file("a.txt", "one\n");
  }
  Result<Report> go() {
    Life life(world, {});
    return life.start(life.brief("go"));
  }
  const Session* child() const { return world.session_labelled("explore"); }

  SimWorld world;
};

TEST_F(TaskCall, RunsTheAgentAndGivesItsReport) {
  parent_calls(R"({"agent":"explore","prompt":"look"})");
  ASSERT_TRUE(go());
  EXPECT_THAT(told(world), AllOf(HasSubstr("## Subagent Result (explore)"), HasSubstr("Status: completed"),
                                 HasSubstr("found it")));
  ASSERT_TRUE(child());
  EXPECT_EQ(child()->depth, 1);
  EXPECT_EQ(child()->workspace_mode, WorkspaceMode::read_only);
  EXPECT_EQ(child()->max_turns, 15);
  EXPECT_TRUE(child()->deadline);
}

TEST_F(TaskCall, KnowsTheAgentByItsOtherNameToo) {
  parent_calls(R"({"subagent_type":"explore","prompt":"look"})");
  ASSERT_TRUE(go());
  EXPECT_THAT(told(world), HasSubstr("found it"));
}

TEST_F(TaskCall, KnowsTheGeneralAgentByTheNameThatOtherProgramsGiveIt) {
  parent_calls(R"({"subagent_type":"general-purpose","prompt":"look"})", R"([{"text":"found it"}])",
               "general");
  ASSERT_TRUE(go());
  EXPECT_THAT(told(world), HasSubstr("## Subagent Result (general)"));
}

TEST_F(TaskCall, RefusesTwoNamesThatDiffer) {
  parent_calls(R"({"agent":"explore","subagent_type":"general","prompt":"look"})");
  ASSERT_TRUE(go());
  EXPECT_THAT(told(world), AllOf(HasSubstr("explore"), HasSubstr("general"), HasSubstr("give one of them")));
  EXPECT_EQ(world.sessions().size(), 1u);
}

TEST_F(TaskCall, RefusesAnAgentThatIsNotDeclaredAndNamesThoseThatAre) {
  for (const auto* agent : {"nobody", "reader", "main", "command"}) {
    world = {};
    parent_calls(R"({"agent":")" + std::string(agent) + R"(","prompt":"look"})");
    ASSERT_TRUE(go());
    EXPECT_THAT(told(world),
                AllOf(HasSubstr("not declared"), HasSubstr("explore, general, planner, researcher")))
        << agent;
    EXPECT_EQ(world.sessions().size(), 1u);
  }
  world = {};
  parent_calls(R"({"agent":"explore","prompt":"look"})");
  ASSERT_TRUE(go());
  EXPECT_EQ(world.sessions().size(), 2u) << "control";
}

TEST_F(TaskCall, LowersTheAgentsCapOnStepsAndNeverRaisesIt) {
  parent_calls(R"({"agent":"explore","prompt":"look","max_turns":3})");
  ASSERT_TRUE(go());
  EXPECT_EQ(child()->max_turns, 3);
  world = {};
  parent_calls(R"({"agent":"explore","prompt":"look","max_turns":99})");
  ASSERT_TRUE(go());
  EXPECT_EQ(child()->max_turns, 15);
}

TEST_F(TaskCall, SaysThatAChildReturnedNoText) {
  parent_calls(R"({"agent":"explore","prompt":"look"})", R"([{"text":""}])");
  ASSERT_TRUE(go());
  EXPECT_THAT(told(world), AllOf(HasSubstr("(subagent returned no text)"), HasSubstr("Status: partial")));
}

TEST_F(TaskCall, AChildThatMayOnlyReadCannotWriteWhateverNameItsModelSends) {
  parent_calls(
      R"({"agent":"explore","prompt":"look"})",
      R"([{"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"x"}},{"name":"Bash","arguments":{"command":"true"}},
                   {"name":"task","arguments":{"agent":"general","prompt":"x"}},{"name":"write","arguments":{"file_path":"b.txt","content":"x"}}]},{"text":"done"}])");
  ASSERT_TRUE(go());
  EXPECT_FALSE(world.disk.files().contains("/work/b.txt"));
  EXPECT_EQ(world.sessions().size(), 2u);
}

TEST_F(TaskCall, AChildWritesWhereItsModeAndRulesAllowIt) {
  parent_calls(
      R"({"agent":"general","prompt":"write"})",
      R"([{"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"x"}}]},{"text":"done"}])",
      "general");
  ASSERT_TRUE(go());
  EXPECT_EQ(world.disk.files()["/work/b.txt"], "x");
}

TEST_F(TaskCall, WhatTheParentMayNotTheChildMayNotEither) {
  parent_calls(
      R"({"agent":"general","prompt":"write"})",
      R"([{"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"x"}}]},{"text":"done"}])",
      "general");
  Life life(world, {});
  RootBrief brief = life.brief("go");
  brief.rules = Rules({{Decision::deny, "Write", ""}});
  ASSERT_TRUE(life.start(std::move(brief)));
  EXPECT_FALSE(world.disk.files().contains("/work/b.txt"));
}

}  // namespace
}  // namespace deputy
