// How a tree makes its sessions: what each owns, inherits and may do.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "delegation/tree.h"

namespace deputy {

namespace {

Reason reason_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::denied:
      return Reason::denied;
    case ErrorCode::exhausted:
      return Reason::budget;
    case ErrorCode::cancelled:
      return Reason::parent_stopped;
    default:
      return Reason::internal;
  }
}

std::optional<int> lower_of(std::optional<int> a, std::optional<int> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// A profile that says nothing is left out of the meet: a layer without rules would still hold the defaults.
Result<std::string> permissions_of_child(const std::string& parent, const Permissions& own) {
  if (own.empty()) return parent;
  std::vector<Rule> rules;
  for (const auto& [decision, texts] :
       {std::pair(Decision::allow, &own.allow), std::pair(Decision::ask, &own.ask),
        std::pair(Decision::deny, &own.deny)}) {
    for (const auto& text : *texts) {
      TRY(auto rule, parse_rule(decision, text));
      rules.push_back(std::move(rule));
    }
  }
  TRY(const auto above, Rules::from_json(parent));
  return Rules::both(above, Rules(std::move(rules))).to_json();
}

}  // namespace

Report report_of_refusal(const Delegation& delegation, const Error& error) {
  Report report;
  report.status = Status::failed;
  report.reason = reason_of(error);
  report.summary = shorten(error.message, kSummaryCharacters);
  report.errors.push_back({.type = std::string(name_of(report.reason)),
                           .message = error.message,
                           .recoverable = !error.advice.empty(),
                           .recommendation = error.advice});
  report.agent = delegation.agent;
  report.label = delegation.brief.label;
  report.depth = delegation.parent.depth + 1;
  return report;
}

SessionId Tree::unused_id() const {
  for (;;) {
    SessionId id = new_session_id(services_.loop.clock(), services_.random);
    const auto taken = services_.store.session(id);
    if (!taken || !*taken) return id;
  }
}

Result<Session> Tree::root_session(const RootBrief& root) const {
  TRY(const auto* profile, services_.profiles.find(root.agent));
  Session session;
  session.id = unused_id();
  session.uuid = Uuid(random_uuid(services_.random));
  session.tree = session.id;
  session.label = root.brief.label;
  session.agent = profile->name;
  session.path = {profile->name};
  session.model = root.model;
  session.workspace = root.workspace;
  session.workspace_mode = profile->workspace;
  session.network = profile->network && root.network;
  session.sandbox_level = root.sandbox_level;
  session.permissions = root.rules.to_json();
  session.max_turns = profile->max_turns;
  if (root.brief.max_output_tokens) session.max_output_tokens = *root.brief.max_output_tokens;
  session.prompt = root.brief.prompt;
  return session;
}

Result<Session> Tree::child_session(const Delegation& delegation, const Profile& profile) const {
  const Session& parent = delegation.parent;
  Session session;
  session.id = unused_id();
  session.uuid = Uuid(random_uuid(services_.random));
  session.tree = id_;
  session.parent = parent.id;
  session.delegation = delegation.key;
  session.label = delegation.brief.label;
  session.agent = profile.name;
  session.depth = parent.depth + 1;
  session.path = parent.path;
  session.path.push_back(profile.name);
  session.model = delegation.brief.model.value_or(profile.model.value_or(delegation.model));
  session.workspace_mode = narrowed(parent.workspace_mode, profile.workspace);
  session.workspace = session.workspace_mode == WorkspaceMode::worktree
                          ? own_folder(parent.workspace, session.id)
                          : parent.workspace;
  session.network = parent.network && profile.network;
  session.sandbox_level = parent.sandbox_level;
  TRY(session.permissions, permissions_of_child(parent.permissions, profile.permissions));
  session.max_turns =
      lower_of(profile.max_turns ? profile.max_turns : parent.max_turns, delegation.max_turns);
  session.max_output_tokens = delegation.brief.max_output_tokens.value_or(
      profile.max_output_tokens.value_or(parent.max_output_tokens));
  if (const auto timeout = delegation.timeout ? delegation.timeout : profile.timeout) {
    session.deadline =
        services_.loop.clock().wall() + std::chrono::duration_cast<std::chrono::microseconds>(*timeout);
  }
  session.prompt = delegation.brief.prompt;
  TRY(services_.models.find(session.model));
  return session;
}

}  // namespace deputy
