#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/agents.h"
#include "app/commands.h"
#include "app/tree_command.h"
#include "app/tree_result.h"
#include "base/text.h"

namespace deputy {
namespace {

// An agent of a folder that is not trusted is refused, with what to do about it.
OrFailure<void> check_agent(Program& program, const std::string& name) {
  TRY(const auto workspace, program.workspace());
  TRY(const auto found, find_agents(program, workspace));
  const auto profiles = profiles_of(found);
  const auto declared = profiles.offered();
  if (std::ranges::any_of(declared, [&name](const Profile* each) { return each->name == name; })) return {};
  for (const auto& each : found) {
    if (each.read.profile.name != name || each.problem.empty()) continue;
    const bool is_untrusted = each.standing == Standing::untrusted;
    return std::unexpected(
        CommandFailure({ErrorCode::denied, fmt::format("agent '{}' is not used: {}", name, each.problem), ""},
                       is_untrusted ? ExitStatus::refused : ExitStatus::usage));
  }
  std::vector<std::string> names;
  for (const auto* each : declared) names.push_back(each->name);
  return misused(fmt::format("agent '{}' is not declared", shorten(to_utf8(name), 64)),
                 fmt::format("declared: {}", fmt::join(names, ", ")));
}

json::object call_of(const OneTaskArguments& arguments, std::string prompt) {
  json::object call{{"agent", arguments.agent}, {"prompt", std::move(prompt)}};
  if (arguments.timeout)
    call["timeout"] = std::chrono::ceil<std::chrono::seconds>(*arguments.timeout).count();
  return call;
}

}  // namespace

Ended task_command(Program& program, const OneTaskArguments& arguments) {
  TRY(check_agent(program, arguments.agent));
  TRY(auto model, chosen_model(program));
  TRY(auto prompt, prompt_of(arguments.prompt, "task AGENT"));
  TRY(const auto limits, program.limits());
  TRY(check_batch_limits(limits));
  TRY(const auto end,
      start_tree(program, task_work(call_of(arguments, std::move(prompt)), std::move(model))));
  return print_result(program, result_of(end));
}

}  // namespace deputy
