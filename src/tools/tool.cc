#include "tools/tool.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/workspace_path.h"

namespace deputy {
namespace {

constexpr std::string_view kOutcomeUnknown =
    "interrupted, outcome unknown: the program stopped while this call ran. It may have taken effect or not, "
    "and it was not run again. Check the state it would have changed before you decide what to do.";

// A file with a second name may lie outside the workspace under that: what holds for files inside does not
// hold for it by itself.
bool has_second_name(const ToolContext& context) {
  const auto& status = context.target->place->status();
  return status && status->names > 1;
}

}  // namespace

Roots roots_of_rules(const ToolContext& context) {
  return {.workspace = context.workspace.path(), .home = context.home};
}

Verdict Tool::judge(const Rules& rules, const json::object& arguments, const ToolContext& context) const {
  const Roots roots = roots_of_rules(context);
  if (!context.target) return rules.judge(text().name, subject(arguments), by_default(), roots);
  const Decision otherwise = has_second_name(context) ? std::max(Decision::ask, by_default()) : by_default();
  return rules.judge(text().name, context.target->name, otherwise, roots);
}

std::string Tool::approval_text(const json::object& arguments, const ToolContext& context) const {
  std::string asked = fmt::format("{} {}", text().name, in_full(arguments));
  if (!context.target) return asked;
  if (const auto given = path(arguments); given && *given != context.target->name)
    asked += fmt::format("\nThat is {}.", shown_path(context.target->name));
  if (has_second_name(context)) asked += "\nThe file has a second name, which may lie outside the workspace.";
  return asked;
}

Task<Tool::Planned> Tool::plan(json::object, ToolContext) { co_return std::nullopt; }

Task<std::optional<ToolResult>> Tool::refusal(json::object, ToolContext) { co_return std::nullopt; }

Task<ToolResult> Tool::after_crash(ToolContext) { co_return tool_error(std::string(kOutcomeUnknown)); }

ToolResult tool_ok(std::string content) { return {.status = ToolStatus::ok, .content = std::move(content)}; }

ToolResult tool_error(std::string content) {
  return {.status = ToolStatus::error, .content = std::move(content)};
}

}  // namespace deputy
