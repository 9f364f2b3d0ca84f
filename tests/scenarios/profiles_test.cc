// Profiles on the whole runtime: what a child owns, what it inherits, what it may (delegation.md, "Profiles,
// inheritance, limits").
#include "base/json.h"
#include "profiles_on_a_tree.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProfilesOnATree, InstructionsAndToolsAreOwnedByTheProfileNeverInherited) {
  add({.name = "odd", .instructions = "You count.", .tools = {"Read", "Note"}});
  script(root_calls("odd") + agent_says("odd"));
  ASSERT_TRUE(go());
  EXPECT_THAT(heard["odd"].system, AllOf(HasSubstr("You count."), Not(HasSubstr("You are deputy"))));
  EXPECT_THAT(tools_of("odd"), AllOf(Contains("Read"), Not(Contains("Bash")), Not(Contains("Delegate"))));
}

TEST_F(ProfilesOnATree, TheToolsOfAReadOnlyChildAreToldInLessThanSixKilobytes) {
  script(
      R"({"match":{"depth":0},"replies":[{"calls":[
        {"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"look"}]}},
        {"name":"task","arguments":{"agent":"explore","prompt":"look"}},
        {"name":"task","arguments":{"agent":"planner","prompt":"look"}},
        {"name":"task","arguments":{"agent":"researcher","prompt":"look"}}]},{"text":"done"}]})" +
      agent_says("reader") + agent_says("explore") + agent_says("planner") + agent_says("researcher"));
  ASSERT_TRUE(go());
  for (const std::string agent : {"reader", "explore", "planner", "researcher"}) {
    std::size_t bytes = 0;
    for (const auto& tool : heard[agent].tools)
      bytes += tool.name.size() + tool.description.size() + tool.schema.size();
    EXPECT_GT(bytes, 1000u) << agent;
    EXPECT_LT(bytes, 4500u) << agent;  // the web's, which this world has not, take 1,500 at most
    RecordProperty(agent, static_cast<int>(bytes));
  }
}

TEST_F(ProfilesOnATree, AToolThatTheParentLacksIsLegalIfNoAncestorsRulesDenyIt) {
  add({.name = "middle", .tools = {"Read", "Note"}, .subagents = {"writer"}});
  add({.name = "writer", .tools = {"Write", "Note"}});
  const std::string sessions =
      root_calls("middle") +
      agent_says("middle",
                 R"({"calls":[{"name":"task","arguments":{"agent":"writer","prompt":"x"}}]},{"text":"ok"})") +
      agent_says(
          "writer",
          R"({"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"x"}}]},{"text":"ok"})");
  script(sessions);
  ASSERT_TRUE(go());
  EXPECT_TRUE(world.disk.files().contains("/work/b.txt"));
  world = {};
  script(sessions);
  ASSERT_TRUE(go({{Decision::deny, "Write", ""}}));
  EXPECT_FALSE(world.disk.files().contains("/work/b.txt"));
}

TEST_F(ProfilesOnATree, AProfileCanDelegateOnlyIfItDeclaresSubagents) {
  add({.name = "alone", .tools = {"Read", "Note", "task"}});
  script(root_calls("alone") +
         agent_says(
             "alone",
             R"({"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"x"}}]},{"text":"ok"})"));
  ASSERT_TRUE(go());
  EXPECT_THAT(tools_of("alone"), Not(Contains("task")));
  EXPECT_EQ(world.sessions().size(), 2u);
}

TEST_F(ProfilesOnATree, AProfileThatListsTaskItselfHasItOnce) {
  add({.name = "lead", .tools = {"Read", "task", "Note"}, .subagents = {"explore"}});
  script(root_calls("lead") +
         agent_says(
             "lead",
             R"({"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"x"}}]},{"text":"ok"})") +
         agent_says("explore"));
  ASSERT_TRUE(go());
  EXPECT_EQ(std::ranges::count(tools_of("lead"), std::string("task")), 1);
  EXPECT_EQ(child("explore").depth, 2);
}

TEST_F(ProfilesOnATree, AChildMayDelegateOnlyToWhatItsOwnProfileDeclares) {
  add({.name = "lead", .subagents = {"explore"}});
  script(root_calls("lead") +
         agent_says(
             "lead",
             R"({"calls":[{"name":"task","arguments":{"agent":"general","prompt":"x"}}]},{"text":"ok"})"));
  ASSERT_TRUE(go());
  EXPECT_THAT(told("lead"), AllOf(HasSubstr("not declared"), HasSubstr("declared: explore")));
  EXPECT_EQ(world.sessions().size(), 2u);
}

TEST_F(ProfilesOnATree, TheDescriptionListsTheDeclaredProfilesWithTheirGuidance) {
  add({.name = "mute"});
  add({.name = "lead", .description = "leads\nothers", .subagents = {"nobody-there"}});
  script(root_calls("lead") + agent_says("lead"));
  ASSERT_TRUE(go());
  EXPECT_THAT(task_text("main"),
              AllOf(HasSubstr("- lead: leads others"), HasSubstr("- mute: (no description provided)"),
                    HasSubstr("- explore: "), Not(HasSubstr("- reader"))));
  EXPECT_THAT(task_text("lead"), HasSubstr("(none declared)"));
}

TEST_F(ProfilesOnATree, TheToolsOfEverySessionRefuseUnknownProperties) {
  add({.name = "lead", .tools = {"Read", "Write", "Edit", "Bash", "Todo", "Note"}, .subagents = {"explore"}});
  script(root_calls("lead") + agent_says("lead"));
  ASSERT_TRUE(go());
  for (const auto* agent : {"main", "lead"}) {
    EXPECT_THAT(tools_of(agent), testing::IsSupersetOf({"task", "spawn_subagent", "answer_subagent",
                                                        "task_status", "task_cancel", "task_message"}));
    for (const auto& tool : heard[agent].tools) {
      const auto schema = parse_json_object(tool.schema);
      ASSERT_TRUE(schema) << tool.name;
      EXPECT_EQ(bool_at(*schema, "additionalProperties"), false) << tool.name;
    }
  }
  EXPECT_THAT(tools_of("lead"), AllOf(Contains("ask_parent"), Contains("task_completion")));
  EXPECT_THAT(tools_of("main"), AllOf(Contains("ask_user"), Contains("Delegate")));
}

TEST_F(ProfilesOnATree, TheModelInheritedIsTheOneThatProducedTheCall) {
  add({.name = "lead", .subagents = {"explore"}, .model = ModelName("listening/second")});
  script(root_calls("lead") +
         agent_says(
             "lead",
             R"({"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"x"}}]},{"text":"ok"})") +
         agent_says("explore"));
  ASSERT_TRUE(go());
  EXPECT_EQ(child("lead").model, ModelName("listening/second"));
  EXPECT_EQ(child("explore").model, ModelName("listening/second")) << "from the child as it was resolved";
  EXPECT_EQ(child("main").model, ModelName("listening/first"));
}

TEST_F(ProfilesOnATree, AModelThatIsNotHereIsRefusedByName) {
  add({.name = "far", .model = ModelName("nowhere/model")});
  script(root_calls("far"));
  ASSERT_TRUE(go());
  EXPECT_THAT(told("main"), HasSubstr("nowhere"));
  EXPECT_EQ(world.sessions().size(), 1u);
}

TEST_F(ProfilesOnATree, CapsKindAndTimeoutAreInheritedWhenAbsentAndGrandchildrenInheritFromTheResolvedChild) {
  add({.name = "lead",
       .subagents = {"plain"},
       .max_turns = 5,
       .max_output_tokens = 500,
       .kind = WorkKind::planning});
  add({.name = "plain"});
  script(
      root_calls("lead") +
      agent_says("lead",
                 R"({"calls":[{"name":"task","arguments":{"agent":"plain","prompt":"x"}}]},{"text":"ok"})") +
      agent_says("plain"));
  ASSERT_TRUE(go());
  for (const auto* agent : {"lead", "plain"}) {
    EXPECT_EQ(child(agent).max_turns, 5) << agent;
    EXPECT_EQ(child(agent).max_output_tokens, 500) << agent;
    EXPECT_EQ(child(agent).kind, WorkKind::planning) << agent;
    EXPECT_EQ(child(agent).timeout, std::chrono::seconds(1800)) << agent;
  }
  EXPECT_EQ(heard["plain"].max_output_tokens, 500);
}

TEST_F(ProfilesOnATree, TheChildrenOfABatchHaveNoCapOnTimeOrStepsWhateverTheirParentHas) {
  add({.name = "lead", .tools = {"Delegate"}, .max_turns = 2, .kind = WorkKind::simple});
  script(
      root_calls("lead") +
      agent_says(
          "lead",
          R"({"calls":[{"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"p"}]}}]},{"text":"ok"})") +
      agent_says("reader", R"({"calls":[{"name":"Read","arguments":{"file_path":"a.txt","limit":1}}]},
                              {"calls":[{"name":"Read","arguments":{"file_path":"a.txt","limit":2}}]},
                              {"calls":[{"name":"Read","arguments":{"file_path":"a.txt","limit":3}}]},
                              {"text":"found it"})"));
  ASSERT_TRUE(go());
  EXPECT_EQ(child("lead").max_turns, 2);
  const Session& reader = child("reader");
  EXPECT_EQ(reader.state, SessionState::completed);
  EXPECT_EQ(reader.steps, 4);
  EXPECT_FALSE(reader.max_turns);
  EXPECT_FALSE(reader.deadline);
  EXPECT_THAT(heard["reader"].system, testing::HasSubstr("Your limit is your context window."));
}

TEST_F(ProfilesOnATree, TheDeadlineGoesByKindAndTheBuiltInOnesHaveTheirs) {
  const std::pair<const char*, int> agents[] = {
      {"general", 7200}, {"explore", 3600}, {"researcher", 3600}, {"planner", 1800}, {"plain", 300}};
  for (const auto& [agent, seconds] : agents) {
    world = {};
    add({.name = "plain"});
    script(root_calls(agent) + agent_says(agent));
    ASSERT_TRUE(go());
    const Session& session = child(agent);
    ASSERT_TRUE(session.deadline) << agent;
    EXPECT_EQ(*session.deadline - session.created_at, std::chrono::seconds(seconds)) << agent;
  }
}

TEST_F(ProfilesOnATree, ProfileOrCallMaySetAnotherDeadlineOrNone) {
  add({.name = "endless", .kind = WorkKind::simple, .timeout = kNoTimeout});
  script(root_calls("endless") + agent_says("endless"));
  ASSERT_TRUE(go());
  EXPECT_FALSE(child("endless").deadline);
  world = {};
  script(root_calls("endless", R"(,"timeout":42)") + agent_says("endless"));
  ASSERT_TRUE(go());
  EXPECT_EQ(*child("endless").deadline - child("endless").created_at, std::chrono::seconds(42));
  world = {};
  add({.name = "quick", .kind = WorkKind::simple});
  script(root_calls("quick", R"(,"timeout":"none")") + agent_says("quick"));
  ASSERT_TRUE(go());
  EXPECT_FALSE(child("quick").deadline);
  world = {};
  script(root_calls("quick", R"(,"timeout":"some")") + agent_says("quick"));
  ASSERT_TRUE(go());
  EXPECT_EQ(world.sessions().size(), 1u) << told("main");
}

TEST_F(ProfilesOnATree, AnUnknownToolInAProfileIsRefusedAtUseByName) {
  add({.name = "odd", .tools = {"Read", "Teleport"}});
  script(root_calls("odd") + agent_says("odd"));
  ASSERT_TRUE(go());
  EXPECT_THAT(told("main"), AllOf(HasSubstr("Teleport"), HasSubstr("deputy agents check")));
  EXPECT_EQ(world.sessions().size(), 1u);
}

TEST_F(ProfilesOnATree, WhereOnAskIsDenyWhatTheRulesLeaveOpenIsDeniedAndNobodyIsAsked) {
  add({.name = "strict", .tools = {"Write", "Note"}, .on_ask = OnAsk::deny});
  script(
      root_calls("strict") +
      agent_says(
          "strict",
          R"({"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"x"}}]},{"text":"ok"})"));
  ASSERT_TRUE(go());
  EXPECT_FALSE(world.disk.files().contains("/work/b.txt"));
  EXPECT_THAT(told("strict"), HasSubstr("only what its rules allow"));
}

TEST_F(ProfilesOnATree, AScratchChildWritesInItsOwnFolderAndNowhereElse) {
  add({.name = "draft", .tools = {"Read", "Write", "Note"}, .workspace = WorkspaceMode::scratch});
  const auto writes_to = [](const std::string& path) {
    return agent_says("draft", R"({"calls":[{"name":"Write","arguments":{"file_path":")" + path +
                                   R"(","content":"changed"}}]},{"text":"tried"})");
  };
  script(root_calls("draft") + writes_to("a.txt"));
  ASSERT_TRUE(go());
  EXPECT_EQ(world.disk.files()["/work/a.txt"], "one\n");
  EXPECT_THAT(told("draft"), HasSubstr("scratch folder"));
  const std::string own = ".deputy/subagents/agent_" + child("draft").id.value;
  EXPECT_FALSE(world.disk.status("/work/" + own)) << "what is empty goes at once";

  world = {};  // in which the same child has the same id
  script(root_calls("draft") + writes_to(own + "/b.txt"));
  ASSERT_TRUE(go());
  EXPECT_EQ(world.disk.files()["/work/" + own + "/b.txt"], "changed");
  EXPECT_THAT(told("main"), HasSubstr(own)) << "the report says where its work is";
}

TEST_F(ProfilesOnATree, AReadOnlyChildOfAWritingParentWritesNothingAndItsOwnChildrenNeither) {
  add({.name = "look",
       .tools = {"Read", "Note"},
       .subagents = {"general"},
       .workspace = WorkspaceMode::read_only});
  script(
      root_calls("look") +
      agent_says(
          "look",
          R"({"calls":[{"name":"task","arguments":{"agent":"general","prompt":"x"}}]},{"text":"ok"})") +
      agent_says(
          "general",
          R"({"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"x"}}]},{"text":"ok"})"));
  ASSERT_TRUE(go());
  EXPECT_EQ(child("general").workspace_mode, WorkspaceMode::read_only);
  EXPECT_FALSE(child("general").network);
  EXPECT_FALSE(world.disk.files().contains("/work/b.txt"));
}

TEST_F(ProfilesOnATree, TheSameProfileTwiceOnOnePathIsACycleUnlessItSaysReentrant) {
  const std::string again =
      R"({"calls":[{"name":"task","arguments":{"agent":"self","prompt":"x"}}]},{"text":"ok"})";
  add({.name = "self", .subagents = {"self"}});
  script(root_calls("self") + R"(,{"match":{"agent":"self","depth":1},"replies":[)" + again + "]}" +
         agent_says("self"));
  ASSERT_TRUE(go());
  EXPECT_THAT(told("self"), HasSubstr("cycle"));
  EXPECT_EQ(world.sessions().size(), 2u);
  world = {};
  add({.name = "self", .subagents = {"self"}, .reentrant = true});
  script(root_calls("self") + R"(,{"match":{"agent":"self","depth":1},"replies":[)" + again + "]}" +
         agent_says("self"));
  ASSERT_TRUE(go());
  EXPECT_EQ(world.sessions().size(), 3u);
}

TEST_F(ProfilesOnATree, AChildWhoseProfileIsGoneWhenItIsResumedEndsAsFailedAndItsParentGoesOn) {
  add({.name = "gone"});
  int resumed = 0;
  for (int record = 1;; ++record) {
    world = {};
    script(root_calls("gone") + agent_says("gone"));
    {
      Life life(world, {.crash = {record, true}, .profiles = profiles});
      const auto undisturbed = life.start(life.brief("go"));
      if (!life.crashed()) break;
    }
    const Session* child = world.session_labelled("gone");
    if (!child || is_terminal(child->state)) continue;
    Life second(world, {.seed = 2});
    const auto report = second.resume(world.sessions().front().id);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->body, "done");
    EXPECT_EQ(world.session_labelled("gone")->state, SessionState::failed);
    EXPECT_EQ(world.session_labelled("gone")->reason, Reason::denied);
    EXPECT_EQ(world.terminal_records(child->id), 1);
    ++resumed;
  }
  EXPECT_GT(resumed, 0);
}

}  // namespace
}  // namespace deputy
