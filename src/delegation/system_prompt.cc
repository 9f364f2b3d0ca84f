#include "delegation/system_prompt.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/completion.h"

namespace deputy {
namespace {

constexpr std::string_view kParentAsset = R"(

# Delegating
Hand over work that splits into independent parts: parallel exploration, separate points of view, an independent check. Two to four children are
usually right. Delegate's children read but do not write; task runs one agent by name. Give each a task that does not overlap with the others, everything
it needs to know, and the shape of the answer you want. Treat their reports as advice: check what matters, reconcile what disagrees, and go on with what
you have if one fails.)";

constexpr std::string_view kChild = R"(

# How you work
You are a subagent: a parent agent handed you one task and sees only what you report. You cannot see its conversation.)";

constexpr std::string_view kScratchpad = R"(
You have a scratchpad. Use the Note tool to record each important finding as soon as you have it. If your context fills up or you are stopped, your
notes are what is returned, so write them to be useful on their own.)";

constexpr std::string_view kWhatToReport =
    " The conclusion first, then what supports it, with file paths and line numbers. Say plainly what you "
    "did not check.";

bool has_tool(const std::vector<ToolText>& tools, std::string_view name) {
  return std::ranges::find(tools, name, &ToolText::name) != tools.end();
}

bool can_delegate(const std::vector<ToolText>& tools) {
  return has_tool(tools, "Delegate") || has_tool(tools, "task") || has_tool(tools, "spawn_subagent");
}

std::string limits_text(const Session& session) {
  const std::string steps = session.max_turns ? fmt::format("{} steps", *session.max_turns) : "";
  const std::string time = session.timeout ? to_text(*session.timeout) : "";
  if (steps.empty() && time.empty()) return "\nYour limit is your context window.";
  return fmt::format(
      "\nYou have at most {}{}{}. When that is used up you are told, and have one step left to report.",
      steps, steps.empty() || time.empty() ? "" : " and ", time);
}

std::string how_to_report(const Profile& profile, const std::vector<ToolText>& tools) {
  if (!has_tool(tools, kCompletionTool))
    return "\nWhen you are done, answer with your report as plain text and no tool call.";
  if (profile.returns == Returns::report || !profile.output_schema.empty())
    return "\nWhen you are done, or cannot go on, call task_completion with your report; plain text is not "
           "taken.";
  return "\nWhen you are done, or cannot go on, call task_completion with your report, or answer with it as "
         "plain text "
         "and no tool call.";
}

}  // namespace

std::string system_prompt(const Profile& profile, const Session& session,
                          const std::vector<ToolText>& tools) {
  std::string prompt = profile.instructions;
  if (can_delegate(tools)) prompt += kParentAsset;
  if (session.depth == 0) return prompt;
  prompt += kChild;
  prompt += limits_text(session);
  if (has_tool(tools, "Note")) prompt += kScratchpad;
  return prompt + how_to_report(profile, tools) + std::string(kWhatToReport);
}

}  // namespace deputy
