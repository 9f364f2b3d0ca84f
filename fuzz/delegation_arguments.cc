// A call that hands work on, as a model writes it: of `task` where the first byte is a t, else of Delegate;
// the rest are its arguments. What the tool's own schema lets pass is within the limits that stand in it.
#include <algorithm>
#include <cstdint>

#include "base/json_schema.h"
#include "base/text.h"
#include "delegation/delegate_tool.h"
#include "delegation/task_tool.h"
#include "must.h"

using namespace deputy;

namespace {

JsonSchema compiled(std::string_view text) {
  const auto parsed = parse_json(text);
  must(parsed.has_value());
  auto schema = JsonSchema::compile(*parsed);
  must(schema.has_value());
  return *std::move(schema);
}

bool is_within(std::int64_t least, std::int64_t number, std::int64_t most) {
  return least <= number && number <= most;
}

void check_batch(const DelegateArguments& read) {
  must(is_within(1, std::ssize(read.tasks), 8) && is_within(1, read.concurrency, 4));
  for (const DelegateTask& task : read.tasks) {
    must(!task.brief.label.empty() && utf8_length(task.brief.label) <= 32 && !task.brief.prompt.empty());
    must(task.brief.max_output_tokens && is_within(100, *task.brief.max_output_tokens, 16'384));
    must(task.context.size() <= 10 && !std::ranges::count(task.context, ""));
  }
}

void check_task(const Result<TaskArguments>& read) {
  if (!read) return must(!read.error().message.empty() && !read.error().advice.empty());
  must(!read->prompt.empty() && (!read->agent.empty() || read->resume));
  must(!read->max_turns || is_within(1, *read->max_turns, 1'000'000));
  must(!read->timeout || *read->timeout >= std::chrono::seconds(1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const JsonSchema batch = compiled(DelegateTool::definition().schema);
  static const JsonSchema task = compiled(TaskTool::schema());
  if (size == 0) return 0;
  const bool is_task = bytes[0] == 't';
  const auto arguments = parse_json_object({reinterpret_cast<const char*>(bytes) + 1, size - 1});
  if (!arguments || !(is_task ? task : batch).mistakes_in(*arguments).empty()) return 0;
  if (is_task) {
    check_task(read_task_arguments(*arguments));
  } else {
    check_batch(read_delegate_arguments(*arguments));
  }
  return 0;
}
