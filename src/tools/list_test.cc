#include "tools/list.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tools/tool_bench.h"

namespace deputy {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class List : public testing::Test {
 protected:
  ToolBench bench;
  ListTool list;
};

TEST_F(List, ShowsOneLevelSorted) {
  bench.write("src/b.cc", "12");
  bench.write("src/a/deep", "");
  bench.write("src/.hidden", std::string(1234, 'x'));
  bench.write("src/c", "1");
  const ToolResult result = bench.call(list, R"({"path":"src"})");
  EXPECT_EQ(result.status, ToolStatus::ok);
  EXPECT_EQ(result.content, "[src: 1 folder, 3 files]\n.hidden  1,234 bytes\na/\nb.cc  2 bytes\nc  1 byte\n");
}

TEST_F(List, ShowsTheWorkspaceByDefault) {
  bench.write("a", "");
  EXPECT_EQ(bench.call(list, "{}").content, "[.: 0 folders, 1 file]\na  0 bytes\n");
  EXPECT_EQ(list.path({}), ".");
}

TEST_F(List, AnEmptyFolderIsSaidToBeEmpty) {
  EXPECT_TRUE(bench.workspace->make_folder("e"));
  EXPECT_EQ(bench.call(list, R"({"path":"e"})").content, "[e: empty]\n");
}

TEST_F(List, MistakesSayWhatToDo) {
  bench.write("src/a", "1");
  EXPECT_EQ(bench.call(list, R"({"path":"src/a"})").content,
            "src/a is a file of 1 byte, not a folder. Use Read.");
  EXPECT_THAT(bench.call(list, R"({"path":"scr"})").content, HasSubstr("Did you mean src?"));
  EXPECT_THAT(bench.call(list, R"({"path":"/"})").content, HasSubstr("outside the workspace"));
  EXPECT_EQ(bench.call(list, R"({"path":"/"})").status, ToolStatus::error);
}

TEST_F(List, WithholdsWhatRulesKeepBack) {
  bench.write("a/.env", "");
  bench.write("a/b", "");
  bench.session.permissions = Rules({Rule{Decision::deny, "Read", "**/.env"}}).to_json();
  EXPECT_EQ(bench.call(list, R"({"path":"a"})").content,
            "[a: 0 folders, 1 file; 1 withheld by permission rules]\nb  0 bytes\n");
}

TEST_F(List, ALongListKeepsItsHeadAndTail) {
  for (int i = 0; i < 3000; ++i) bench.write(fmt::format("f/{:05}", i), "");
  const std::string content = bench.call(list, R"({"path":"f"})").content;
  EXPECT_LE(content.size(), list.most_result_bytes());
  EXPECT_THAT(content, AllOf(HasSubstr("[f: 0 folders, 3,000 files]\n00000  "), HasSubstr("left out"),
                             HasSubstr("02999  0 bytes\n")));
}

}  // namespace
}  // namespace deputy
