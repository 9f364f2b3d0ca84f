// What a tree hands to the sessions of one profile: tools, instructions, provider.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "delegation/ask_tool.h"
#include "delegation/completion_tool.h"
#include "delegation/spawn_tool.h"
#include "delegation/system_prompt.h"
#include "delegation/task_tool.h"
#include "delegation/tree.h"
#include "guard/tool_names.h"
#include "model/context_estimate.h"

namespace deputy {

Result<Tree::Kit> Tree::kit_for(const Session& session, const Profile& profile) {
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", profile.name, session.model.value,
                  session.max_output_tokens, session.depth > 0, session.max_turns.value_or(0),
                  session.timeout.value_or(Duration{}).count(), session.permissions, asks_person(session));
  if (const auto found = kits_.find(key); found != kits_.end()) return found->second;

  TRY(auto granted, tools_for(profile, session));
  if (may_report(session, profile)) {
    TRY(auto completion, CompletionTool::make(profile.output_schema));
    grant_over(granted, std::move(completion));
  }
  TRY(auto rules, Rules::from_json(session.permissions));
  Toolbox toolbox(std::move(granted), std::move(rules));
  auto prefix = std::make_shared<RequestPrefix>();
  prefix->model = session.model;
  prefix->system = system_prompt(profile, session, toolbox.texts());
  prefix->max_output_tokens = session.max_output_tokens;
  for (const auto& text : toolbox.texts())
    prefix->tools.push_back({text.name, text.description, text.schema});
  const std::int64_t prefix_tokens = estimated_tokens(*prefix);
  Kit kit{.prefix = std::move(prefix),
          .prefix_tokens = prefix_tokens,
          .toolbox = std::make_shared<const Toolbox>(std::move(toolbox))};
  TRY(kit.provider, profile.driver.empty() ? services_.models.find(session.model)
                                           : services_.models.driver(profile.driver));
  return kits_.emplace(key, std::move(kit)).first->second;
}

// By name; what is known but not to be had here is left out, an unknown name is refused.
Result<std::vector<std::shared_ptr<Tool>>> Tree::tools_for(const Profile& profile, const Session& session) {
  std::vector<std::shared_ptr<Tool>> granted;
  const auto grant = [&granted](const std::vector<std::shared_ptr<Tool>>& from, std::string_view name) {
    const auto named = [name](const auto& tool) { return tool->text().name == name; };
    const auto tool = std::ranges::find_if(from, named);
    if (tool != from.end() && std::ranges::none_of(granted, named)) granted.push_back(*tool);
    return tool != from.end();
  };
  for (const auto& name : profile.tools) {
    if (profile.web_is_approved && grant(approved_web_, name)) continue;
    if (!grant(tools_, name) && !is_tool_name(name)) {
      return fail(ErrorCode::not_found,
                  fmt::format("agent '{}' wants the unknown tool '{}'", profile.name, name));
    }
    if (name == "Bash") {
      for (const auto* beside : {"task_status", "task_cancel"}) grant(tools_, beside);
    }
  }
  if (!profile.subagents.empty()) {
    const auto declared = services_.profiles.declared_by(profile);
    grant_over(granted, std::make_shared<TaskTool>(*this, declared,
                                                   profile.driver.empty() ? Decision::ask : Decision::allow));
    grant_over(granted, std::make_shared<SpawnTool>(*this, declared));
    for (const auto* beside : {"answer_subagent", "task_status", "task_cancel", "task_message"})
      grant(tools_, beside);
  }
  // Not for a batch's children, nor for what stands for a command.
  if (!profile.driver.empty() || (session.depth > 0 && profile.hidden)) return granted;
  if (!asks_person(session)) {
    grant_over(granted, std::make_shared<AskParentTool>(*this));
  } else {
    grant_over(granted, std::make_shared<AskUserTool>(session.depth == 0 ? AskUserTool::Name::ask_user
                                                                         : AskUserTool::Name::ask_parent));
  }
  return granted;
}

bool Tree::asks_person(const Session& session) const {
  if (session.depth != 1) return session.depth == 0;
  const auto root = services_.profiles.find(session.path.front());
  return root && !(*root)->driver.empty();
}

}  // namespace deputy
