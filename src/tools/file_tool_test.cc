// Edit, Write and NotebookEdit: what they share.
#include "tools/file_tool.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/text.h"
#include "tools/edit.h"
#include "tools/notebook_edit.h"
#include "tools/read.h"
#include "tools/tool_bench.h"
#include "tools/write.h"

namespace deputy {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FileTools : public testing::Test {
 protected:
  FileTools() { bench.session.workspace_mode = WorkspaceMode::shared; }

  std::string ok(Tool& tool, std::string_view arguments) { return content(tool, arguments, ToolStatus::ok); }
  std::string error(Tool& tool, std::string_view arguments) {
    return content(tool, arguments, ToolStatus::error);
  }
  void have_read(const std::string& path) { ok(read, fmt::format(R"({{"file_path":"{}"}})", path)); }
  std::string file(const std::string& path) {
    return bench.workspace->read(path, 0, 1 << 25).value_or("(none)");
  }

  ToolBench bench;
  ReadTool read;
  EditTool edit;
  WriteTool write;
  NotebookEditTool notebook;

 private:
  std::string content(Tool& tool, std::string_view arguments, ToolStatus status) {
    const ToolResult result = bench.call(tool, arguments);
    EXPECT_EQ(result.status, status) << result.content;
    return result.content;
  }
};

TEST_F(FileTools, EditChangesAFileThatWasRead) {
  bench.write("src/a.cc", "int a;\nint b;\n");
  have_read("src/a.cc");
  EXPECT_EQ(ok(edit, R"({"file_path":"./src//a.cc","old_string":"int b","new_string":"long b"})"),
            "Edited src/a.cc at line 2.");
  EXPECT_EQ(file("src/a.cc"), "int a;\nlong b;\n");
  EXPECT_EQ(ok(edit, R"({"file_path":"/work/src/a.cc","old_string":"int a","new_string":"long a"})"),
            "Edited src/a.cc at line 1.");
}

TEST_F(FileTools, AFileThatWasNotReadIsLeftAlone) {
  bench.write("a", "one\n");
  EXPECT_THAT(error(edit, R"({"file_path":"a","old_string":"one","new_string":"two"})"),
              AllOf(HasSubstr("have not read it"), HasSubstr("Read it first")));
  EXPECT_THAT(error(write, R"({"file_path":"a","content":"two"})"), HasSubstr("Read it first"));
  EXPECT_EQ(file("a"), "one\n");
}

TEST_F(FileTools, AFileThatChangedSinceItWasReadIsLeftAlone) {
  bench.write("a", "one\n");
  have_read("a");
  bench.write("a", "one, by another\n");
  EXPECT_THAT(error(edit, R"({"file_path":"a","old_string":"one","new_string":"two"})"),
              AllOf(HasSubstr("has changed since you read it"), HasSubstr("Read it again")));
  EXPECT_THAT(error(write, R"({"file_path":"a","content":"two"})"), HasSubstr("Read it again"));
  EXPECT_EQ(file("a"), "one, by another\n");
  have_read("a");
  EXPECT_EQ(ok(write, R"({"file_path":"a","content":"two"})"), "Replaced a: 1 line.");
}

TEST_F(FileTools, AFileThatOnlyLooksTouchedMayBeChanged) {
  bench.write("a", "one\n");
  have_read("a");
  bench.write("a", "one\n");
  EXPECT_EQ(ok(edit, R"({"file_path":"a","old_string":"one","new_string":"two"})"), "Edited a at line 1.");
}

TEST_F(FileTools, WriteMakesNewFilesAndTheirFolders) {
  EXPECT_EQ(ok(write, R"({"file_path":"new/deep/a.txt","content":"x\ny\n"})"),
            "Created new/deep/a.txt: 2 lines.");
  EXPECT_EQ(file("new/deep/a.txt"), "x\ny\n");
  EXPECT_EQ(ok(edit, R"({"file_path":"new/deep/a.txt","old_string":"x","new_string":"z"})"),
            "Edited new/deep/a.txt at line 1.")
      << "what it wrote itself it knows";
}

TEST_F(FileTools, WhatIsMissingComesWithNearNames) {
  bench.write("src/main.cc", "");
  EXPECT_THAT(error(edit, R"({"file_path":"src/mian.cc","old_string":"a","new_string":"b"})"),
              HasSubstr("Did you mean src/main.cc?"));
  EXPECT_THAT(error(notebook, R"({"notebook_path":"a.ipynb","new_source":""})"),
              HasSubstr("There is no a.ipynb"));
}

TEST_F(FileTools, FoldersAndWhatIsNotTextAreLeftAlone) {
  bench.write("src/a", "");
  bench.write("a.png", "\x89PNG\r\n\x1a\n0000");
  EXPECT_THAT(error(write, R"({"file_path":"src","content":"x"})"), HasSubstr("is a folder"));
  EXPECT_THAT(error(write, R"({"file_path":"a.png","content":"x"})"), HasSubstr("a PNG image"));
  EXPECT_THAT(error(write, R"({"file_path":".","content":"x"})"), HasSubstr("is a folder"));
  EXPECT_FALSE(bench.call(write, R"({"file_path":"src/a/below","content":"x"})").status == ToolStatus::ok);
}

TEST_F(FileTools, NothingToChangeIsSaid) {
  bench.write("a", "one");
  have_read("a");
  EXPECT_THAT(error(write, R"({"file_path":"a","content":"one"})"), HasSubstr("nothing to change"));
}

TEST_F(FileTools, HaveALimit) {
  const std::string most(FileTool::kMaxBytes, 'a');
  const auto arguments = [](const std::string& content) {
    return fmt::format(R"({{"file_path":"a","content":"{}"}})", content);
  };
  EXPECT_THAT(error(write, arguments(most + "a")), HasSubstr("at most 16 MiB"));
  EXPECT_EQ(file("a"), "(none)");
  EXPECT_EQ(ok(write, arguments(most)), "Created a: 1 line.");
  bench.write("b", most + "a");
  have_read("b");
  EXPECT_THAT(error(edit, R"({"file_path":"b","old_string":"a","new_string":"x"})"), HasSubstr("too large"));
}

TEST_F(FileTools, ANotebookKeepsItsOtherCells) {
  bench.write("n.ipynb",
              R"({"cells":[{"id":"a","cell_type":"code","source":"1.50"},{"id":"b"}],"nbformat":4})");
  have_read("n.ipynb");
  EXPECT_EQ(ok(notebook, R"({"notebook_path":"n.ipynb","cell_id":"b","new_source":"","edit_mode":"delete"})"),
            "n.ipynb: deleted cell b.");
  EXPECT_EQ(file("n.ipynb"), R"({"cells":[{"id":"a","cell_type":"code","source":"1.50"}],"nbformat":4})");
  EXPECT_THAT(error(notebook, R"({"notebook_path":"n.ipynb","cell_id":"b","new_source":"x"})"),
              HasSubstr("There are: a"));
}

TEST_F(FileTools, WhatIsReadAndWrittenIsInTheLedger) {
  bench.write("a", "one");
  have_read("a");
  ok(edit, R"({"file_path":"a","old_string":"one","new_string":"two"})");
  std::vector<FileChange> ledger;
  for (const Event& event : bench.applied) {
    if (const auto* touched = std::get_if<FileTouched>(&event.fact)) ledger.push_back(touched->file);
  }
  const std::string one = sha256_hex("one");
  EXPECT_EQ(ledger, (std::vector<FileChange>{{"/work/a", one, one}, {"/work/a", one, sha256_hex("two")}}));
}

TEST_F(FileTools, APersonIsShownWhatWillBeWritten) {
  bench.write("a", "one");
  bench.disk.plant_link("/work/link", "a");
  ToolContext context = bench.context();
  context.target = find_target(*bench.workspace, {}, "link").value();
  context.intent = FileChange{"/work/a", "1", "2"};
  EXPECT_EQ(edit.approval_text(
                *parse_json_object(R"({"file_path":"link","old_string":"one\ntwo","new_string":"three"})"),
                context),
            "Edit link\nThat is a.\n- one\n- two\n+ three\n");
  EXPECT_EQ(write.approval_text(*parse_json_object(R"({"file_path":"a","content":"x"})"), context),
            "Write a\nAll of it is replaced by:\nx");
}

TEST_F(FileTools, APersonIsShownAllOfItHoweverLongItIs) {
  bench.write("a", "one");
  bench.write("n.ipynb", "{}");
  ToolContext context = bench.context();
  context.target = find_target(*bench.workspace, {}, "a").value();
  std::string content;
  for (int line = 0; line < 5000; ++line) content += "line " + std::to_string(line) + "\n";
  EXPECT_TRUE(
      write.approval_text({{"file_path", "a"}, {"content", content}}, context).ends_with(":\n" + content));
  const std::string edited =
      edit.approval_text({{"file_path", "a"}, {"old_string", content}, {"new_string", content}}, context);
  for (const auto* middle : {"\n- line 2500\n", "\n+ line 2500\n"})
    EXPECT_NE(edited.find(middle), std::string::npos) << middle;
  context.target = find_target(*bench.workspace, {}, "n.ipynb").value();
  EXPECT_TRUE(notebook.approval_text({{"notebook_path", "n.ipynb"}, {"new_source", content}}, context)
                  .ends_with(":\n" + content));
}

// A crash at any moment, and the process after it.
class InterruptedEdit : public FileTools {
 protected:
  void SetUp() override {
    bench.write("a", "one");
    have_read("a");
    box = Toolbox({std::make_shared<EditTool>(), std::make_shared<WriteTool>()},
                  Rules({Rule{Decision::allow, "Edit", ""}, Rule{Decision::allow, "Write", ""}}));
  }
  std::vector<Fact> intent(std::string_view tool, const std::string& path, std::string before,
                           std::string after) {
    return {CallStarted{std::string(tool), path, FileChange{path, std::move(before), std::move(after)}}};
  }
  ToolResult again(std::vector<Fact> traces) {
    return bench.call_through(*box, "Edit", kCall, std::move(traces));
  }
  static constexpr std::string_view kCall = R"({"file_path":"a","old_string":"one","new_string":"two"})";
  std::optional<Toolbox> box;
};

TEST_F(InterruptedEdit, TheIntentHoldsTheHashes) {
  EXPECT_EQ(bench.call_through(*box, "Edit", kCall).content, "Edited a at line 1.");
  ASSERT_EQ(bench.remembering.recorded.size(), 1U) << "one sync before the effect";
  const auto& started = std::get<CallStarted>(bench.remembering.recorded[0].fact);
  EXPECT_EQ(started.change, (FileChange{"/work/a", sha256_hex("one"), sha256_hex("two")}));
}

TEST_F(InterruptedEdit, BeforeTheEffectItIsFinished) {
  EXPECT_EQ(again(intent("Edit", "/work/a", sha256_hex("one"), sha256_hex("two"))).content,
            "Edited a at line 1.");
  EXPECT_EQ(file("a"), "two");
  EXPECT_TRUE(bench.remembering.recorded.empty()) << "the intent stands already";
}

TEST_F(InterruptedEdit, AfterTheEffectItIsFoundDone) {
  bench.write("a", "two");
  const ToolResult result = again(intent("Edit", "/work/a", sha256_hex("one"), sha256_hex("two")));
  EXPECT_EQ(result.status, ToolStatus::ok) << result.content;
  EXPECT_EQ(file("a"), "two");
  EXPECT_EQ(bench.files_seen["/work/a"], sha256_hex("two"));
}

TEST_F(InterruptedEdit, SomebodyElsesWorkIsLeftAlone) {
  bench.write("a", "one more");
  const ToolResult result = again(intent("Edit", "/work/a", sha256_hex("one"), sha256_hex("two")));
  EXPECT_EQ(result.status, ToolStatus::error);
  EXPECT_THAT(result.content, AllOf(HasSubstr("Interrupted"), HasSubstr("Read it again")));
  EXPECT_EQ(file("a"), "one more");
}

TEST_F(InterruptedEdit, ANewFileIsFinishedOrFoundDone) {
  constexpr std::string_view call = R"({"file_path":"new","content":"x"})";
  const auto traces = intent("Write", "/work/new", "", sha256_hex("x"));
  EXPECT_EQ(bench.call_through(*box, "Write", call, traces).status, ToolStatus::ok);
  EXPECT_EQ(file("new"), "x");
  EXPECT_EQ(bench.call_through(*box, "Write", call, traces).status, ToolStatus::ok);
  bench.write("new", "y");
  EXPECT_EQ(bench.call_through(*box, "Write", call, traces).status, ToolStatus::error);
  EXPECT_EQ(file("new"), "y");
}

TEST_F(InterruptedEdit, APathThatLeadsElsewhereByNowIsRefused) {
  bench.write("b", "one");
  ASSERT_TRUE(bench.workspace->remove("a"));
  bench.disk.plant_link("/work/a", "b");
  EXPECT_THAT(again(intent("Edit", "/work/a", sha256_hex("one"), sha256_hex("two"))).content,
              HasSubstr("leads to b now"));
  EXPECT_EQ(file("b"), "one");
}

TEST_F(InterruptedEdit, AnIntentWithoutHashesIsNotGuessedAt) {
  EXPECT_EQ(again({CallStarted{"Edit", "a"}}).status, ToolStatus::error);
  EXPECT_EQ(file("a"), "one");
}

TEST_F(InterruptedEdit, ADiskThatFailsLeavesTheFileAsItWas) {
  bench.disk.set_fault(
      [](std::string_view) -> Result<void> { return fail(ErrorCode::exhausted, "disk full"); });
  EXPECT_THAT(bench.call_through(*box, "Edit", kCall).content, HasSubstr("disk full"));
  bench.disk.set_fault({});
  EXPECT_EQ(file("a"), "one");
  EXPECT_EQ(bench.files_seen["/work/a"], sha256_hex("one"));
}

TEST_F(InterruptedEdit, WhatCannotBeRecordedIsNotDone) {
  bench.remembering.error = Error{ErrorCode::io, "no journal", ""};
  PendingCall call{.index = 1, .call = {"c1", "Edit", std::string(kCall)}};
  EXPECT_FALSE(run(bench.loop, box->run({call}, bench.context())));
  EXPECT_EQ(file("a"), "one");
}

}  // namespace
}  // namespace deputy
