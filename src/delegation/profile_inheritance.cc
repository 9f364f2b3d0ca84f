#include "delegation/profile_inheritance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "delegation/profiles.h"
#include "delegation/workspaces.h"
#include "guard/rules.h"
#include "guard/tool_names.h"
#include "transcript/limits.h"

namespace deputy {
namespace {

std::optional<int> lower_of(std::optional<int> a, std::optional<int> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

std::optional<int> steps_of(const Session& parent, const Profile& profile, const CallWishes& call) {
  const auto said = lower_of(profile.max_turns ? profile.max_turns : parent.max_turns, call.max_turns);
  return said == kUnlimited<int> ? std::nullopt : said;
}

// A profile has a say only in what its rules are about: tools that none of its rules allows in part stay as
// the parent has them.
void leave_the_rest_to_the_parent(std::vector<Rule>& rules, const Profile& profile) {
  std::vector<std::string> tools = tool_names();
  tools.insert(tools.end(), profile.tools.begin(), profile.tools.end());
  for (const auto& tool : tools) {
    const bool is_settled = std::ranges::any_of(
        rules, [&tool](const Rule& rule) { return rule.tool == tool && rule.decision == Decision::allow; });
    if (!is_settled) rules.push_back({.decision = Decision::allow, .tool = tool, .pattern = ""});
  }
}

// A profile without rules is left out of the meet: a layer without rules would still hold the defaults.
Result<std::string> permissions_of_child(const std::string& parent, const Profile& profile) {
  if (profile.permissions.empty()) return parent;
  std::vector<Rule> rules;
  for (const auto& [decision, texts] : {std::pair(Decision::allow, &profile.permissions.allow),
                                        std::pair(Decision::ask, &profile.permissions.ask),
                                        std::pair(Decision::deny, &profile.permissions.deny)}) {
    for (const auto& text : *texts) {
      TRY(auto rule, parse_rule(decision, text));
      rules.push_back(std::move(rule));
    }
  }
  leave_the_rest_to_the_parent(rules, profile);
  TRY(const auto above, Rules::from_json(parent));
  return Rules::both(above, Rules(std::move(rules))).to_json();
}

std::optional<Duration> timeout_of(const Session& parent, const Profile& profile, const CallWishes& call) {
  const auto said = call.timeout ? call.timeout : profile.timeout;
  if (said) return *said == kNoTimeout ? std::nullopt : said;
  if (profile.kind) return time_for(*profile.kind);
  if (parent.kind) return parent.timeout;
  return time_for(WorkKind::simple);
}

}  // namespace

Duration time_for(WorkKind kind) {
  switch (kind) {
    case WorkKind::research:
      return std::chrono::seconds(3600);
    case WorkKind::planning:
      return std::chrono::seconds(1800);
    case WorkKind::implementation:
      return std::chrono::seconds(7200);
    case WorkKind::simple:
      break;
  }
  return std::chrono::seconds(300);
}

Result<Session> inherited_session(const Session& parent, const Profile& profile, const CallWishes& call) {
  if (const auto unknown = unknown_tools(profile); !unknown.empty())
    return fail(
        ErrorCode::denied,
        fmt::format("agent '{}' wants tools that do not exist: {}", profile.name, fmt::join(unknown, ", ")),
        "mend its profile; `deputy agents check` tells where");
  Session session;
  session.parent = parent.id;
  session.agent = profile.name;
  session.depth = parent.depth + 1;
  session.path = parent.path;
  session.path.push_back(profile.name);
  session.model = call.model.value_or(profile.model.value_or(call.made_by));
  session.max_turns = steps_of(parent, profile, call);
  session.max_output_tokens =
      call.max_output_tokens.value_or(profile.max_output_tokens.value_or(parent.max_output_tokens));
  session.kind = profile.kind ? profile.kind : parent.kind.value_or(WorkKind::simple);
  session.timeout = timeout_of(parent, profile, call);
  session.workspace_mode = narrowed(parent.workspace_mode, profile.workspace);
  session.network = parent.network && profile.network;
  session.sandbox_level = parent.sandbox_level;
  TRY(session.permissions, permissions_of_child(parent.permissions, profile));
  return session;
}

}  // namespace deputy
