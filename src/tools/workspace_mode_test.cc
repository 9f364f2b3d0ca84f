#include "tools/workspace_mode.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tools/catalog.h"
#include "tools/tool_bench.h"

namespace deputy {
namespace {

using testing::HasSubstr;

class Workspaces : public testing::Test {
 protected:
  Workspaces() {
    bench.session.id = SessionId("sess_1_aaaaaa");
    bench.session.parent = SessionId("sess_1_parent");
    std::vector<Rule> rules;
    for (const char* tool : {"Write", "Edit", "NotebookEdit"}) rules.push_back({Decision::allow, tool, ""});
    box = Toolbox(builtin_tools(), Rules(std::move(rules)));
  }
  ToolResult write(WorkspaceMode mode, const std::string& path) {
    bench.session.workspace_mode = mode;
    return bench.call_through(*box, "Write", fmt::format(R"({{"file_path":"{}","content":"x"}})", path));
  }
  ToolBench bench;
  std::optional<Toolbox> box;
};

TEST_F(Workspaces, NothingIsWrittenInAReadOnlyOneWhateverTheRulesSay) {
  EXPECT_EQ(bench.session.workspace_mode, WorkspaceMode::read_only) << "unless somebody says otherwise";
  bench.write("a", "one");
  bench.call_through(*box, "Read", R"({"file_path":"a"})");
  for (const auto& [tool, call] :
       {std::pair{"Write", R"({"file_path":"new","content":"x"})"},
        std::pair{"Edit", R"({"file_path":"a","old_string":"one","new_string":"x"})"},
        std::pair{"NotebookEdit", R"({"notebook_path":"a","new_source":"x"})"}}) {
    EXPECT_THAT(bench.call_through(*box, tool, call).content, HasSubstr("read-only")) << tool;
  }
  EXPECT_EQ(bench.disk.files(), (std::map<std::string, std::string>{{"/work/a", "one"}}));
  EXPECT_EQ(write(WorkspaceMode::shared, "new").status, ToolStatus::ok) << "control";
}

TEST_F(Workspaces, AScratchSessionWritesInItsOwnFolderOnly) {
  const std::string own = ".deputy/subagents/agent_sess_1_aaaaaa";
  bench.write(own + "/old", "");
  bench.disk.plant_link("/work/" + own + "/out", "../../../src");
  bench.disk.plant_link("/work/src/in", "../" + own);
  for (const std::string& path :
       {std::string("a"), own, own + "x/a", own + "/../agent_other/a", own + "/out/a",
        std::string(".deputy/subagents/agent_sess_1_bbbbbb/a"), std::string(".deputy/settings.json")}) {
    EXPECT_EQ(write(WorkspaceMode::scratch, path).status, ToolStatus::error) << path;
  }
  EXPECT_EQ(write(WorkspaceMode::scratch, own + "/notes/a").status, ToolStatus::ok);
  EXPECT_EQ(write(WorkspaceMode::scratch, "src/in/b").status, ToolStatus::ok) << "that leads into it";
  EXPECT_EQ(bench.disk.files().size(), 3U);
}

TEST_F(Workspaces, AWorktreeIsNotLeft) {
  const auto main = bench.disk.open("/main", IfAbsent::create).value();
  EXPECT_EQ(write(WorkspaceMode::worktree, "a").status, ToolStatus::ok);
  EXPECT_EQ(write(WorkspaceMode::worktree, "/main/a").status, ToolStatus::error);
  EXPECT_TRUE(refusal_to_write(bench.session, "/main/a"));
  bench.session.workspace_mode = WorkspaceMode::shared;
  EXPECT_FALSE(refusal_to_write(bench.session, "/main/a")) << "control: a root that was granted";
}

TEST_F(Workspaces, AChildSeesNoScratchFolderButItsOwnAndItsChildrens) {
  const std::vector<SessionId> children{SessionId("sess_1_child0")};
  const auto hidden = [&](std::string_view name) { return is_hidden_scratch(bench.session, children, name); };
  EXPECT_FALSE(hidden(".deputy/subagents"));
  EXPECT_FALSE(hidden(".deputy/subagents/agent_sess_1_aaaaaa/x"));
  EXPECT_FALSE(hidden(".deputy/subagents/agent_sess_1_child0"));
  EXPECT_TRUE(hidden(".deputy/subagents/agent_sess_1_bbbbbb"));
  EXPECT_TRUE(hidden(".deputy/subagents/agent_sess_1_bbbbbb/x"));
  EXPECT_TRUE(hidden(".DEPUTY/Subagents/agent_sess_1_bbbbbb/x"));
  EXPECT_TRUE(hidden(".deputy/subagents/agent_sess_1_aaaaaa2/x"));
  bench.session.parent.reset();
  EXPECT_FALSE(hidden(".deputy/subagents/agent_sess_1_bbbbbb")) << "the root sees all";
}

TEST_F(Workspaces, SiblingsAreInvisibleToTheTools) {
  bench.write(".deputy/subagents/agent_sess_1_bbbbbb/notes.md", "CANARY");
  bench.write(".deputy/subagents/agent_sess_1_aaaaaa/mine.md", "mine");
  constexpr const char* kList = R"({"path":".deputy/subagents"})";
  constexpr const char* kRead = R"({"file_path":".deputy/subagents/agent_sess_1_bbbbbb/notes.md"})";
  EXPECT_THAT(bench.call_through(*box, "Read", kRead).content, HasSubstr("another agent"));
  EXPECT_THAT(bench.call_through(*box, "List", kList).content,
              testing::AllOf(HasSubstr("aaaaaa"), testing::Not(HasSubstr("bbbbbb"))));
  bench.session.parent.reset();
  EXPECT_THAT(bench.call_through(*box, "Read", kRead).content, HasSubstr("CANARY")) << "control";
}

}  // namespace
}  // namespace deputy
