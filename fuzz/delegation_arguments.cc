// A call that hands work on, as a model writes it: of `task` where the first byte is a t, of spawn_subagent
// where it is an s, of answer_subagent where it is an a, else of Delegate; the rest are its arguments. What
// the tool's own schema lets pass is within the limits that stand in it.
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/json_schema.h"
#include "base/text.h"
#include "delegation/delegate_tool.h"
#include "delegation/question_ids.h"
#include "delegation/spawn_tool.h"
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

void check_batch(const json::object& arguments) {
  const DelegateArguments read = read_delegate_arguments(arguments);
  must(is_within(1, std::ssize(read.tasks), 8) && is_within(1, read.concurrency, 4));
  for (const DelegateTask& task : read.tasks) {
    must(!task.brief.label.empty() && utf8_length(task.brief.label) <= 32 && !task.brief.prompt.empty());
    must(task.brief.max_output_tokens && is_within(100, *task.brief.max_output_tokens, 16'384));
    must(task.context.size() <= 10 && !std::ranges::count(task.context, ""));
  }
}

void check_task(const json::object& arguments) {
  const auto read = read_task_arguments(arguments);
  if (!read) return must(!read.error().message.empty() && !read.error().advice.empty());
  must(!read->prompt.empty() && (!read->agent.empty() || read->resume));
  must(!read->max_turns || is_within(1, *read->max_turns, 1'000'000));
  must(!read->timeout || *read->timeout >= std::chrono::seconds(1));
}

void check_spawn(const json::object& arguments) {
  must(!string_or(arguments, "agent", "").empty() && !string_or(arguments, "task", "").empty());
  const auto timeout = timeout_in(arguments);
  must(!timeout || *timeout >= std::chrono::seconds(1));
}

void check_answer(const json::object& arguments) {
  must(!string_or(arguments, "answer", "").empty());
  const SessionId asker = asker_of(string_or(arguments, "question_id", ""));
  must(asker.empty() || is_session_id(asker.value));
}

struct Known {
  char letter;
  JsonSchema schema;
  void (*check)(const json::object& arguments);
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::array<Known, 4> tools{{{'t', compiled(TaskTool::schema()), check_task},
                                           {'s', compiled(SpawnTool::schema()), check_spawn},
                                           {'a', compiled(AnswerTool::schema()), check_answer},
                                           {'d', compiled(DelegateTool::definition().schema), check_batch}}};
  if (size == 0) return 0;
  const auto found = std::ranges::find(tools, static_cast<char>(bytes[0]), &Known::letter);
  const Known& tool = found == tools.end() ? tools.back() : *found;
  const auto arguments = parse_json_object({reinterpret_cast<const char*>(bytes) + 1, size - 1});
  if (arguments && tool.schema.mistakes_in(*arguments).empty()) tool.check(*arguments);
  return 0;
}
