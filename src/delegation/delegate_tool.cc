#include "delegation/delegate_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "async/task_group.h"
#include "delegation/approval.h"
#include "delegation/context_files.h"
#include "delegation/tree.h"

namespace deputy {

namespace {

constexpr std::string_view kDescription =
    "Hand 1-8 independent tasks to subagents that run in parallel with read-only tools (Read, Grep, Glob, "
    "WebFetch, WebSearch, Note) and report back. Each child sees "
    "only its prompt and context files, nothing of this conversation: say what to find out and the shape of "
    "the answer. Results come in "
    "input order; a failed child does not stop the others.";

constexpr std::string_view kSchema = R"({"type":"object","properties":{
"tasks":{"type":"array","minItems":1,"maxItems":8,"items":{"type":"object","properties":{
"label":{"type":"string","minLength":1,"maxLength":32,"description":"Short name for progress and transcripts"},
"prompt":{"type":"string","minLength":1},
"context":{"type":"array","items":{"type":"string","minLength":1},"maxItems":10,"description":"Files to put before the prompt"},
"model":{"type":"string","minLength":1,"description":"provider/name, if not yours"},
"max_output_tokens":{"type":"integer","minimum":100,"maximum":16384,"default":4096}},
"required":["label","prompt"],"additionalProperties":false}},
"concurrency":{"type":"integer","minimum":1,"maximum":4,"default":2},
"return":{"type":"string","enum":["markdown","json"],"default":"markdown"}},
"required":["tasks"],"additionalProperties":false})";

constexpr int kDefaultOutputTokens = 4096;
constexpr std::size_t kGoalCharacters = 40;

Delegation delegation_of(const DelegateTask& task, int index, int total, const ToolContext& context) {
  return {.key = {context.id, index},
          .parent = context.session,
          .model = context.model,
          .agent = "reader",
          .brief = task.brief,
          .index = index,
          .total = total};
}

std::vector<ToldChild> told_children(const json::object& arguments) {
  std::vector<ToldChild> children;
  const auto* tasks = array_at(arguments, "tasks");
  for (const auto& each : tasks ? *tasks : json::array()) {
    const auto& task = each.as_object();
    children.push_back({.name = string_or(task, "label", ""),
                        .prompt = string_or(task, "prompt", ""),
                        .given = without(task, {"label", "prompt"})});
  }
  return children;
}

}  // namespace

const ToolText& DelegateTool::definition() {
  static const ToolText text{"Delegate", std::string(kDescription), std::string(kSchema)};
  return text;
}

DelegateArguments read_delegate_arguments(const json::object& arguments) {
  DelegateArguments read;
  read.concurrency = static_cast<int>(integer_or(arguments, "concurrency", read.concurrency));
  if (string_or(arguments, "return", "markdown") == "json") read.layout = BatchLayout::json;
  const auto* tasks = array_at(arguments, "tasks");
  for (const auto& each : tasks ? *tasks : json::array()) {
    const auto& object = each.as_object();
    DelegateTask task;
    task.brief.label = string_or(object, "label", "");
    task.brief.prompt = string_or(object, "prompt", "");
    if (auto model = string_at(object, "model")) task.brief.model = ModelName(*std::move(model));
    task.brief.max_output_tokens =
        static_cast<int>(integer_or(object, "max_output_tokens", kDefaultOutputTokens));
    if (const auto* context = array_at(object, "context")) {
      for (const auto& path : *context) task.context.emplace_back(path.as_string());
    }
    read.tasks.push_back(std::move(task));
  }
  return read;
}

std::size_t DelegateTool::most_result_bytes() const { return tree_.reports().most_of_batch(); }

std::string DelegateTool::shown(const json::object& arguments) const {
  const auto children = told_children(arguments);
  return fmt::format("{} subagent{}: {}", children.size(), children.size() == 1 ? "" : "s",
                     goals_text(children, kGoalCharacters));
}

std::string DelegateTool::approval_text(const json::object& arguments, const ToolContext& context) const {
  const auto read = read_delegate_arguments(arguments);
  std::vector<PlannedChild> children;
  for (const auto& task : read.tasks) children.push_back(tree_.planned(delegation_of(task, 0, 1, context)));
  return fmt::format("Spawn {} -- {}{}", shown(arguments),
                     terms_text(children, tree_.models(), tree_.budget()),
                     briefs_text(told_children(arguments), kGoalCharacters));
}

// Where one of the tasks would be let in, the batch runs: the others are refused in it.
Task<std::optional<ToolResult>> DelegateTool::refusal(json::object arguments, ToolContext context) {
  const auto read = read_delegate_arguments(arguments);
  const int total = static_cast<int>(read.tasks.size());
  std::vector<Report> reports;
  for (int index = 0; index < total; ++index) {
    const Delegation delegation =
        delegation_of(read.tasks[static_cast<std::size_t>(index)], index, total, context);
    const auto refused = tree_.refusal_of(delegation);
    if (!refused) co_return std::nullopt;
    reports.push_back(report_of_refusal(delegation, *refused));
  }
  for (const Report& report : reports) co_await tree_.log_errors(context.session.id, report);
  co_return tool_ok(co_await tree_.reports().told(context.session.id, std::move(reports), read.layout));
}

// What the lanes of one call share; it lives with the call, which waits for them.
struct DelegateTool::Batch {
  ToolContext context;
  std::vector<DelegateTask> tasks;
  std::vector<Report> reports;
  std::vector<Result<std::string>> prompts = {};  // with the context files, or why they cannot be had
  std::size_t next = 0;

  Delegation delegation(std::size_t at) const {
    return delegation_of(tasks[at], static_cast<int>(at), static_cast<int>(tasks.size()), context);
  }
};

Task<ToolResult> DelegateTool::run(json::object arguments, ToolContext context) {
  auto read = read_delegate_arguments(arguments);
  Batch batch{context, std::move(read.tasks), {}};
  auto& reports = batch.reports;
  reports.resize(batch.tasks.size());
  co_await read_context(batch);
  TaskGroup group(context.loop, context.stop);
  Task<> all_ended = group.join();  // made while nothing runs that would have to be waited for
  try {
    for (int lane = 0; lane < read.concurrency; ++lane) group.spawn(run_tasks(batch));
  } catch (const std::bad_alloc&) {  // one lane does it all, the others only make it quicker
    if (group.size() == 0) throw;
  }
  co_await std::move(all_ended);
  const bool is_without_key =
      std::ranges::all_of(reports, [](const Report& report) { return report.reason == Reason::no_api_key; });
  if (is_without_key && !reports.front().errors.empty())
    co_return tool_error("Cannot spawn subagents: " + reports.front().errors.front().message);
  co_return tool_ok(co_await tree_.reports().told(context.session.id, std::move(reports), read.layout));
}

// Before the first child is let in: a task that waited for its files while later ones did not would lose the
// last place that a limit leaves to one of them.
Task<> DelegateTool::read_context(Batch& batch) {
  std::vector<std::size_t> to_read;
  for (std::size_t at = 0; at < batch.tasks.size(); ++at) {
    const DelegateTask& task = batch.tasks[at];
    batch.prompts.emplace_back(task.brief.prompt);
    // One that is there already was given its files when it was made.
    if (!task.context.empty() && !tree_.has_child(batch.delegation(at).key)) to_read.push_back(at);
  }
  for (const std::size_t at : to_read) {
    if (batch.context.stop.stopped()) co_return;  // nobody is started any more
    try {
      co_await on_pool(batch.context.loop, batch.context.pool, [&batch, at, bounds = tree_.context_bounds()] {
        const DelegateTask& task = batch.tasks[at];
        const ToolContext& context = batch.context;
        const auto sight = Sight::of(context);
        batch.prompts[at] = sight ? with_context_files(task.brief.prompt, task.context, context.workspace,
                                                       *sight, bounds, context.roots)
                                  : std::unexpected(sight.error());
      });
    } catch (const std::bad_alloc&) {  // that task's failure: its siblings' files may fit
      batch.prompts[at] =
          fail(ErrorCode::exhausted, "out of memory while the context files of this task were read",
               "leave some out and let the child read them");
    }
  }
}

// One of several lanes that share what is left to do.
Task<> DelegateTool::run_tasks(Batch& batch) {
  while (batch.next < batch.tasks.size()) {
    const std::size_t mine = batch.next++;
    batch.reports[mine] =
        co_await run_task(batch.delegation(mine), std::move(batch.prompts[mine]), batch.context);
  }
}

// Nothing is waited for before the child is let in: the first in the order of the tasks is the first here.
Task<Report> DelegateTool::run_task(Delegation delegation, Result<std::string> prompt, ToolContext context) {
  if (!prompt) {
    Report refused = report_without_context(delegation, prompt.error());
    co_await tree_.log_errors(context.session.id, refused);
    co_return refused;
  }
  delegation.brief.prompt = *std::move(prompt);
  co_return co_await tree_.delegate(std::move(delegation), context.stop);
}

}  // namespace deputy
