#include "tools/todo.h"

#include "tools/tool_bench.h"

namespace deputy {
namespace {

TEST(Todo, ShowsTheListAsItStands) {
  ToolBench bench;
  TodoTool todo;
  const auto result = bench.call(todo, R"({"todos":[{"content":"a","status":"completed"},
    {"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]})");
  EXPECT_EQ(result.status, ToolStatus::ok);
  EXPECT_EQ(result.content, "[x] a\n[>] b\n[ ] c\n");
}

TEST(Todo, TakesOneItemInProgressAndNoSecond) {
  ToolBench bench;
  TodoTool todo;
  const auto result = bench.call(
      todo, R"({"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]})");
  EXPECT_EQ(result.status, ToolStatus::error);
}

}  // namespace
}  // namespace deputy
