#include "tools/todo.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tools/wording.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    R"(Writes your list of what is to do, whole each time. Keep one item in progress and mark what is done at once.)";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{"todos":{"type":"array","maxItems":100,"items":{
"type":"object",
"properties":{
"content":{"type":"string","minLength":1,"maxLength":500},
"status":{"enum":["pending","in_progress","completed"]}},
"required":["content","status"],
"additionalProperties":false}}},
"required":["todos"],
"additionalProperties":false})json";

struct Counts {
  std::size_t all = 0;
  std::size_t done = 0;
  std::size_t in_progress = 0;
};

Counts counts_of(const json::array& todos) {
  Counts counts{.all = todos.size()};
  for (const auto& todo : todos) {
    const std::string status = string_or(todo.as_object(), "status", "");
    if (status == "completed") ++counts.done;
    if (status == "in_progress") ++counts.in_progress;
  }
  return counts;
}

}  // namespace

const ToolText& TodoTool::text() const {
  static const ToolText text{"Todo", std::string(kDescription), std::string(kSchema)};
  return text;
}

std::string TodoTool::shown(const json::object& arguments) const {
  const json::array* todos = array_at(arguments, "todos");
  if (!todos) return {};
  const Counts counts = counts_of(*todos);
  return fmt::format("{}, {} done", counted(counts.all, "item"), counts.done);
}

Task<ToolResult> TodoTool::run(json::object arguments, ToolContext) {
  const json::array& todos = *array_at(arguments, "todos");
  if (todos.empty()) co_return tool_ok("The list is empty.");
  if (counts_of(todos).in_progress > 1)
    co_return tool_error(
        "Only one item can be in progress. Leave the others pending and write the list again.");
  std::string list;
  for (const auto& todo : todos) {
    const std::string status = string_or(todo.as_object(), "status", "");
    const char mark = status == "completed" ? 'x' : status == "in_progress" ? '>' : ' ';
    list += fmt::format("[{}] {}\n", mark, on_one_line(to_utf8(string_or(todo.as_object(), "content", ""))));
  }
  co_return tool_ok(std::move(list));
}

}  // namespace deputy
