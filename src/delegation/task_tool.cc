#include "delegation/task_tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "delegation/approval.h"
#include "delegation/tree.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    "Hand one task to a subagent and wait for its report. It sees only the prompt, nothing of this "
    "conversation: "
    "say what to do, what it needs to know, and the shape of the answer. Several calls in one reply run at "
    "the same "
    "time. Agents:\n";

constexpr std::string_view kSchema = R"json({"type":"object","properties":{
"agent":{"type":"string","minLength":1},
"subagent_type":{"type":"string","minLength":1,"description":"the same as agent"},
"prompt":{"type":"string","minLength":1},
"description":{"type":"string","minLength":1,"maxLength":80,"description":"3-5 words, for people"},
"max_turns":{"type":"integer","minimum":1,"description":"lowers the agent's own limit"},
"timeout":{"type":"integer","minimum":1,"description":"seconds"}},
"required":["prompt"],"additionalProperties":false})json";

// What other programs call it, and models know.
constexpr std::string_view kFieldsGeneral = "general-purpose";

constexpr std::size_t kGoalCharacters = 60;

std::string list_of(const std::vector<const Profile*>& declared) {
  if (declared.empty()) return "(none declared)";
  std::string list;
  for (const auto* profile : declared) {
    list += fmt::format(
        "- {}: {}\n", profile->name,
        profile->description.empty() ? "(no description provided)" : on_one_line(profile->description));
  }
  list.pop_back();
  return list;
}

}  // namespace

Result<TaskArguments> read_task_arguments(const json::object& arguments) {
  const auto agent = string_at(arguments, "agent");
  const auto type = string_at(arguments, "subagent_type");
  if (!agent && !type) return fail(ErrorCode::invalid, "agent is missing", "name the agent to run");
  if (agent && type && *agent != *type)
    return fail(ErrorCode::invalid, fmt::format("agent is '{}' and subagent_type is '{}'", *agent, *type),
                "give one of them");
  TaskArguments read{.agent = agent ? *agent : *type,
                     .prompt = string_or(arguments, "prompt", ""),
                     .description = string_or(arguments, "description", "")};
  if (const auto turns = integer_at(arguments, "max_turns"))
    read.max_turns = static_cast<int>(std::min<std::int64_t>(*turns, 1'000'000));
  if (const auto seconds = integer_at(arguments, "timeout"))
    read.timeout = std::chrono::seconds(std::min<std::int64_t>(*seconds, 365LL * 24 * 3600));
  return read;
}

TaskTool::TaskTool(Tree& tree, const std::vector<const Profile*>& declared, Decision by_default)
    : tree_(tree),
      text_{"task", std::string(kDescription) + list_of(declared), std::string(kSchema)},
      by_default_(by_default) {
  for (const auto* profile : declared) declared_.push_back(profile->name);
}

std::size_t TaskTool::most_result_bytes() const { return tree_.reports().most_of_one(); }

std::string TaskTool::shown(const json::object& arguments) const {
  const auto read = read_task_arguments(arguments);
  if (!read) return {};
  return fmt::format(
      "[{}] {}", on_one_line(read->agent),
      shorten(on_one_line(read->description.empty() ? read->prompt : read->description), kGoalCharacters));
}

std::string TaskTool::approval_text(const json::object& arguments, const ToolContext& context) const {
  const auto read = read_task_arguments(arguments);
  if (!read) return {};
  return fmt::format("Spawn 1 subagent: [{}] {} — model {}, {}, risk medium", on_one_line(read->agent),
                     shorten(on_one_line(read->prompt), kGoalCharacters), context.model.value,
                     cost_text({{context.model, std::nullopt}}, tree_.models(), tree_.budget()));
}

Task<ToolResult> TaskTool::run(json::object arguments, ToolContext context) {
  auto read = read_task_arguments(arguments);
  if (!read) co_return tool_error(fmt::format("{}: {}.", read.error().message, read.error().advice));
  const auto is_declared = [this](std::string_view name) {
    return std::ranges::find(declared_, name) != declared_.end();
  };
  if (read->agent == kFieldsGeneral && !is_declared(read->agent)) read->agent = "general";
  // One that is there already, from before a restart, is gone on with whatever has become of its profile.
  if (!is_declared(read->agent) && !tree_.has_child({context.id, 0})) {
    co_return tool_error(
        fmt::format("agent '{}' is not declared here; declared: {}", shorten(read->agent, 64),
                    declared_.empty() ? "(none)" : fmt::format("{}", fmt::join(declared_, ", "))));
  }
  Delegation delegation{.key = {context.id, 0},
                        .parent = context.session,
                        .model = context.model,
                        .agent = read->agent,
                        .brief = {.label = read->agent, .prompt = read->prompt},
                        .max_turns = read->max_turns,
                        .timeout = read->timeout};
  const Report report = co_await tree_.delegate(std::move(delegation), context.stop);
  const bool is_good = report.status == Status::completed || report.status == Status::partial;
  std::string told = co_await tree_.reports().told(context.session.id, report);
  co_return is_good ? tool_ok(std::move(told)) : tool_error(std::move(told));
}

}  // namespace deputy
