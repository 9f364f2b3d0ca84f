// `deputy agents` and `deputy task`: where agents come from, what they mean here, and one of them at work.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kClaudeAgent = R"(---
name: reviewer
description: reviews what changed
tools: Read, LS
model: sonnet
maxTurns: 9
color: blue
sparkle: yes
---
You review.
)";

class AgentsTest : public DeputyTest {
 protected:
  void put(const fs::path& file, std::string_view text) {
    fs::create_directories(file.parent_path());
    write(file, text);
  }
  void put_in_project() { put(work() / ".claude/agents/reviewer.md", kClaudeAgent); }
  void put_own(const std::string& name, std::string_view head) {
    put(own() / (name + ".md"), "---\n" + std::string(head) + "\n---\nDo it.\n");
  }
  fs::path own() const { return root() / "person/.config/deputy/agents"; }
  json::object parsed(const std::string& text) {
    auto object = parse_json_object(text);
    EXPECT_TRUE(object) << text;
    return object ? *std::move(object) : json::object{};
  }
  // The model's one session below the command.
  std::string child_says(const std::string& replies) {
    return script(R"({"v":1,"sessions":[{"match":{"depth":1},"replies":[)" + replies + "]}]}");
  }
};

TEST_F(AgentsTest, LsListsTheBuiltInOnesAndSaysSo) {
  const auto ran = deputy({"agents", "ls"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const auto* name : {"general", "explore", "planner", "researcher"})
    EXPECT_THAT(ran.out, HasSubstr(name));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("built in"), Not(HasSubstr("reader"))));
  EXPECT_THAT(files_below(home()), IsEmpty()) << "looking leaves nothing behind";
}

TEST_F(AgentsTest, LsSaysWhereEachCameFromAndThatAFolderIsNotTrusted) {
  put_in_project();
  put_own("mine", "description: my own");
  const auto ran = deputy({"agents", "ls"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("untrusted"), HasSubstr(".claude/agents/reviewer.md (Claude Code)"),
                             HasSubstr((own() / "mine.md").string()), HasSubstr("my own")));
}

TEST_F(AgentsTest, ShowTellsWhatWasMappedAndWhatIgnored) {
  put_in_project();
  const auto ran = deputy({"agents", "show", "reviewer"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("LS → List"), HasSubstr("maxTurns → max_turns"), HasSubstr("color"),
                             HasSubstr("unknown key sparkle"), HasSubstr("You review.")));
  EXPECT_THAT(ran.out, HasSubstr("cannot be used here: the agent has its parent's")) << "there is no key";
  const auto object = parsed(deputy({"agents", "show", "reviewer", "--output", "json"}).out);
  EXPECT_EQ(object.at("format").as_string(), "Claude Code");
  EXPECT_EQ(object.at("max_turns").as_int64(), 9);
  EXPECT_EQ(object.at("standing").as_string(), "untrusted");
}

TEST_F(AgentsTest, ShowOfNobodyIsUsageWithTheNearestName) {
  const auto ran = deputy({"agents", "show", "exploer"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean explore?"));
}

TEST_F(AgentsTest, CheckNamesWhatIsWrongWithItsLineAndFails) {
  put_own("bad", "name: bad\nmax_turns: many");
  put_own("odd", "tools: [Read, Teleport]");
  put_own("good", "description: fine");
  const auto ran = deputy({"agents", "check"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("line 3: max_turns is 'many'"),
                             HasSubstr("line 2: there is no tool Teleport"), HasSubstr("good.md: ok")));
  EXPECT_EQ(ran.out.find("Teleport"), ran.out.rfind("Teleport")) << "once:\n" << ran.out;
  EXPECT_EQ(parsed(deputy({"agents", "show", "odd", "--output", "json"}).out).at("standing").as_string(),
            "broken");
  EXPECT_EQ(deputy({"agents", "check", (own() / "good.md").string()}).status, 0);
  EXPECT_EQ(deputy({"agents", "check", (own() / "bad.md").string()}).status, 1);
  EXPECT_EQ(deputy({"agents", "check", "nowhere.md"}).status, 2);
}

TEST_F(AgentsTest, CheckNamesEveryMistakeOfAFileOnALineOfItsOwn) {
  put_own("bad", "name: bad\nmax_turns: many\nkind: odd\ndisallowed_tools: [Wriet]\ntimeout: soon");
  put_own("good", "description: fine\ntools: [Read, Grep]");
  const auto ran = deputy({"agents", "check"});
  EXPECT_EQ(ran.status, 1);
  for (const auto* mistake : {"\n  line 3: max_turns is 'many'", "\n  line 4: kind is 'odd'",
                              "\n  line 5: there is no tool Wriet", "\n  line 6: timeout is 'soon'"})
    EXPECT_THAT(ran.out, HasSubstr(mistake));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\n  tools: Read, Grep, Note; subagents: none; model: inherited; "
                                       "workspace: read_only; time: inherited\n"),
                             HasSubstr("2 agents checked, 1 cannot be used\n")));
}

TEST_F(AgentsTest, ABrokenAgentIsNeitherDeclaredNorOffered) {
  put_own("odd", "tools: [Read, Teleport]");
  const auto typed = deputy({"task", "nobody", "look"});
  EXPECT_THAT(typed.err, AllOf(HasSubstr("declared: explore"), Not(HasSubstr("odd"))));
  const auto named = deputy({"task", "odd", "look"});
  EXPECT_EQ(named.status, 5);
  EXPECT_THAT(named.err,
              AllOf(HasSubstr("agent 'odd' is not used"), HasSubstr("Teleport"), HasSubstr("agents check")));
  const auto model = script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"odd","prompt":"x"}}]},{"expect":{"contains":"not declared"},"text":"no"}]}]})");
  const auto ran = deputy({"run", "--yes", "go", "--model", model});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("1 agent cannot be used"));
}

TEST_F(AgentsTest, TheBuiltInOneDoesNotTakeThePlaceOfABrokenOne) {
  put_own("general", "tools: [Raed]");
  const auto named = deputy({"task", "general", "look"});
  EXPECT_EQ(named.status, 5);
  EXPECT_THAT(named.err, AllOf(HasSubstr("agent 'general' is not used"), HasSubstr("Raed")));
  const auto model = script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"general","prompt":"x"}}]},{"expect":{"contains":"its file is broken"},"text":"no"}]}]})");
  const auto ran = deputy({"run", "--yes", "go", "--model", model});
  EXPECT_EQ(ran.status, 0) << ran.err;
  put_own("general", "tools: [Read]");
  EXPECT_EQ(deputy({"task", "general", "look", "--model", script(R"({"v":1,"sessions":[{"replies":[
    {"text":"done"}]}]})")})
                .status,
            0)
      << "control: mended";
}

TEST_F(AgentsTest, AFolderThatCannotBeReadTakesNoNameAway) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can read every folder";
  const fs::path closed = root() / "person/.claude/agents/general";
  std::filesystem::create_directories(closed);
  std::filesystem::permissions(closed, fs::perms::none);
  const auto ran = deputy({"task", "general", "look", "--model", script(R"({"v":1,"sessions":[{"replies":[
    {"text":"done"}]}]})")});
  const auto listed = deputy({"agents", "ls"});
  std::filesystem::permissions(closed, fs::perms::owner_all);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(listed.out, HasSubstr("broken")) << "it is told of";
}

TEST_F(AgentsTest, TheColumnsOfTheListAreAligned) {
  put_own("mine", "description: my own");
  const std::string listed = deputy({"agents", "ls"}).out;
  const std::size_t from = listed.find("FROM");
  const std::size_t about = listed.find("FOR");
  ASSERT_NE(about, std::string::npos) << listed;
  for (std::size_t line = 0; line < listed.size(); line = listed.find('\n', line) + 1) {
    EXPECT_EQ(listed[line + from - 1], ' ') << listed;
    EXPECT_NE(listed[line + from], ' ') << listed;
    EXPECT_EQ(listed[line + about - 1], ' ') << listed;
    EXPECT_NE(listed[line + about], ' ') << listed;
  }
}

TEST_F(AgentsTest, CheckSaysOfOneFileWhatItSaysOfItAmongAll) {
  put_own("reader", "description: not the built-in one");
  const fs::path off = work() / ".opencode/agent/off.md";
  put(off, "---\ndescription: d\ndisable: true\n---\nDo it.\n");
  using Words = std::vector<std::string>;
  for (const auto& words :
       {Words{"agents", "check"}, Words{"agents", "check", (own() / "reader.md").string()}}) {
    const auto ran = deputy(words);
    EXPECT_EQ(ran.status, 1) << ran.out;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("reader.md: cannot be used"), HasSubstr("a name of deputy's own")));
  }
  put_own("lead", "description: d\nsubagents: [explore, lead, nobody-at-all]");
  for (const auto& words :
       {Words{"agents", "check"}, Words{"agents", "check", (own() / "lead.md").string()}}) {
    EXPECT_THAT(deputy(words).out,
                AllOf(HasSubstr("subagents names nobody-at-all, which is no agent here"),
                      Not(HasSubstr("subagents names explore")), Not(HasSubstr("subagents names lead"))));
  }
  const auto ran = deputy({"agents", "check", off.string()});
  EXPECT_EQ(ran.status, 0) << "nothing is wrong with it";
  EXPECT_THAT(ran.out, HasSubstr("off.md: disabled"));
}

TEST_F(AgentsTest, EveryPresetIsWrittenSoundAndNeverOverAnother) {
  for (const std::string preset : {"security", "testing", "research", "coding", "blank"}) {
    const auto ran = deputy({"agents", "init", preset});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string path = (own() / (preset == "blank" ? "my-agent.md" : preset + ".md")).string();
    EXPECT_EQ(ran.out, path + "\n");
    const auto object = parsed(deputy({"agents", "check", path, "--output", "json"}).out);
    const auto& agent = object.at("agents").as_array().front().as_object();
    EXPECT_TRUE(agent.at("usable").as_bool()) << preset;
    EXPECT_THAT(agent.at("warnings").as_array(), IsEmpty()) << preset;
    EXPECT_EQ(deputy({"agents", "init", preset}).status, 2) << "it exists";
  }
  EXPECT_EQ(deputy({"agents", "init", "nothing"}).status, 2);
  EXPECT_THAT(deputy({"agents", "ls"}).out, HasSubstr("my-agent"));
}

TEST_F(AgentsTest, ThePresetForAProjectLiesInIt) {
  EXPECT_EQ(deputy({"agents", "init", "coding", "--project"}).status, 0);
  EXPECT_TRUE(fs::exists(work() / ".deputy/agents/coding.md"));
}

TEST_F(AgentsTest, AnAgentOfAFolderThatIsNotTrustedIsRefusedAndNoModelHearsOfIt) {
  put_in_project();
  const auto refused = deputy({"task", "reviewer", "look", "--model", child_says(R"({"text":"x"})")});
  EXPECT_EQ(refused.status, 5);
  EXPECT_THAT(refused.err, HasSubstr("agents trust"));
  const auto model = script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"reviewer","prompt":"x"}}]},{"expect":{"contains":"not declared"},"text":"no"}]}]})");
  const auto ran = deputy({"run", "--yes", "go", "--model", model});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("1 agent of this folder not used"));
}

TEST_F(AgentsTest, TrustIsGivenToAFolderAndTakenBack) {
  put_in_project();
  ASSERT_EQ(deputy({"agents", "trust"}).status, 0);
  const auto ran = deputy({"task", "reviewer", "look", "--model", child_says(R"({"text":"all is well"})")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(StartsWith("## Subagent Result (reviewer)"), HasSubstr("all is well")));
  ASSERT_EQ(deputy({"agents", "trust", "--undo"}).status, 0);
  EXPECT_EQ(deputy({"task", "reviewer", "look"}).status, 5);
}

TEST_F(AgentsTest, TaskFollowsTheChildsEnd) {
  const auto ended = [this](const std::string& reply) {
    return deputy({"task", "explore", "look", "--model", child_says(reply)}).status;
  };
  EXPECT_EQ(ended(R"({"text":"done"})"), 0);
  EXPECT_EQ(ended(R"({"text":"half","error":{"kind":"output_limit"}})"), 3);
  EXPECT_EQ(ended(R"({"error":{"kind":"failed","message":"no luck"}})"), 1);
}

TEST_F(AgentsTest, ThePromptOfATaskMayComeOnStdin) {
  const auto model = child_says(R"({"expect":{"contains":"héllo"},"text":"heard"})");
  const auto ran = deputy({.words = {"task", "explore", "--model", model}, .input = "héllo\n"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("heard"));
}

TEST_F(AgentsTest, WhatThePersonTypedNeedsNoApprovalButWhatTheChildHandsOnDoes) {
  put_own("lead", "subagents: [explore]");
  const auto model = script(R"({"v":1,"sessions":[{"match":{"agent":"lead"},"replies":[
    {"calls":[{"name":"task","arguments":{"agent":"explore","prompt":"x"}}]},{"text":"alone"}]},{"replies":[{"text":"explored"}]}]})");
  const auto ran = deputy({"task", "lead", "look", "--model", model});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("[lead] asks: Spawn 1 subagent"), Not(HasSubstr("[explore] started"))));
}

TEST_F(AgentsTest, ATaskForNobodyIsUsageWithTheNamesThatThereAre) {
  const auto ran = deputy({"task", "nobody", "look"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("not declared"), HasSubstr("explore, general, planner, researcher")));
  EXPECT_EQ(deputy({"task", "reader", "look"}).status, 2);
  EXPECT_EQ(deputy({"task", "explore", "look", "--timeout", "soon"}).status, 2);
}

TEST_F(AgentsTest, ATaskThatTheLimitsRuleOutIsRefused) {
  EXPECT_EQ(deputy({"task", "explore", "look", "--max-depth", "0", "--model", child_says(R"({"text":"x"})")})
                .status,
            5);
  EXPECT_EQ(
      deputy({"task", "explore", "look", "--max-delegations", "0", "--model", child_says(R"({"text":"x"})")})
          .status,
      5);
}

TEST_F(AgentsTest, AWorktreeChildWorksOnABranchOfItsOwnAndTheReportCarriesIt) {
  write(work() / "a.txt", "one\n");
  const std::string in = "cd '" + work().string() + "' && ";
  ASSERT_EQ(
      std::system((in + "git init -q -b main && git add -A && git -c user.name=t -c user.email=t@localhost "
                        "commit -q -m first")
                      .c_str()),
      0);
  put_own("coder", "tools: [Read, Edit, Write]\nworkspace: worktree");
  const auto ran =
      deputy({"task", "coder", "change it", "--yes", "--model",
              child_says(R"({"calls":[{"name":"Write","arguments":{"file_path":"b.txt","content":"two\n"}}]},
                                         {"text":"changed"})")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("changed"), HasSubstr("deputy/sess_"), HasSubstr("+two")));
  EXPECT_EQ(contents(work() / "a.txt"), "one\n");
  EXPECT_FALSE(fs::exists(work() / "b.txt"));
}

}  // namespace
}  // namespace deputy
