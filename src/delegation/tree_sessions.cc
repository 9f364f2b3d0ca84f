// How a tree makes its sessions: what each owns, inherits and may do.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "delegation/profile_inheritance.h"
#include "delegation/tree.h"

namespace deputy {

namespace {

Reason reason_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::denied:
    case ErrorCode::not_found:  // an agent, or a model, that is not there
    case ErrorCode::invalid:
      return Reason::denied;
    case ErrorCode::exhausted:
      return Reason::budget;
    case ErrorCode::cancelled:
      return Reason::parent_stopped;
    default:
      return Reason::internal;
  }
}

CallWishes wishes_of(const Delegation& delegation) {
  return {.made_by = delegation.model,
          .model = delegation.brief.model,
          .max_output_tokens = delegation.brief.max_output_tokens,
          .max_turns = delegation.max_turns,
          .timeout = delegation.timeout};
}

Report refused(const Delegation& delegation, const Error& error, Reason reason, ReportedError told) {
  Report report;
  report.status = error.code == ErrorCode::cancelled ? Status::cancelled : Status::failed;
  report.reason = reason;
  report.summary = shorten(error.message, kSummaryCharacters);
  report.errors.push_back(std::move(told));
  report.agent = delegation.agent;
  report.label = delegation.brief.label;
  report.depth = delegation.parent.depth + 1;
  return report;
}

}  // namespace

Report report_of_refusal(const Delegation& delegation, const Error& error) {
  const Reason reason = reason_of(error);
  const bool is_limit = reason == Reason::budget;
  return refused(delegation, error, reason,
                 {.type = std::string(name_of(reason)),
                  .code = code_of(reason),
                  .message = error.message,
                  .recoverable = is_limit || !error.advice.empty(),
                  .recommendation = is_limit && error.advice.empty()
                                        ? "go on with what there is, or run it again with a higher limit"
                                        : error.advice});
}

Report report_without_context(const Delegation& delegation, const Error& error) {
  return refused(delegation, error, Reason::denied,
                 {.type = "context",
                  .code = in_capitals(name_of(error.code)),
                  .message = error.message,
                  .recoverable = true,
                  .recommendation = error.advice});
}

SessionId Tree::unused_id() const {
  for (;;) {
    SessionId id = new_session_id(services_.loop.clock(), services_.random);
    const auto taken = services_.store.session(id);
    if (!taken || !*taken) return id;
  }
}

std::optional<WallTime> Tree::deadline_after(const std::optional<Duration>& timeout) const {
  if (!timeout || *timeout == kNoTimeout) return std::nullopt;
  return now() + std::chrono::duration_cast<std::chrono::microseconds>(*timeout);
}

WallTime Tree::when_left(const SessionId& id) const {
  const auto since = still_since_.find(id);
  return since == still_since_.end() ? now() : since->second;
}

void Tree::skip_downtime(Session& session) const {
  if (session.deadline) *session.deadline += std::max(WallTime::duration{}, now() - when_left(session.id));
}

std::optional<WallTime> Tree::on_record(const SessionId& id, const std::optional<WallTime>& deadline) const {
  if (!other_terms_ || id != id_) return deadline;
  const auto& [recorded, real] = *other_terms_;
  if (!deadline || !real) return recorded + std::max(WallTime::duration{}, now() - *left_at_);
  return recorded + (*deadline - *real);
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
  session.limits = limits_;
  session.deadline = deadline_after(limits_.time);
  session.prompt = root.brief.prompt;
  return session;
}

PlannedChild Tree::planned(const Delegation& delegation) const {
  const auto profile = services_.profiles.find(delegation.agent);
  const auto session = profile ? inherited_session(delegation.parent, **profile, wishes_of(delegation))
                               : std::unexpected(profile.error());
  if (session) return {session->model, session->max_output_tokens};
  return {delegation.brief.model.value_or(delegation.model),
          delegation.brief.max_output_tokens.value_or(delegation.parent.max_output_tokens)};
}

Result<Session> Tree::unnamed_child(const Delegation& delegation, const Profile& profile) const {
  TRY(Session session, inherited_session(delegation.parent, profile, wishes_of(delegation)));
  TRY(services_.models.find(session.model));
  session.prompt = delegation.brief.prompt;
  return session;
}

std::optional<Error> Tree::refusal_of(const Delegation& delegation) {
  if (has_child(delegation.key)) return std::nullopt;
  const auto profile = services_.profiles.find(delegation.agent);
  if (!profile) return profile.error();
  const auto session = unnamed_child(delegation, **profile);
  if (!session) return session.error();
  const auto admitted = admit(delegation.parent, **profile, *session, "");  // and given back at once
  if (!admitted) return admitted.error();
  return std::nullopt;
}

Result<Session> Tree::child_session(const Delegation& delegation, const Profile& profile) const {
  const Session& parent = delegation.parent;
  TRY(Session session, unnamed_child(delegation, profile));
  session.id = unused_id();
  session.uuid = Uuid(random_uuid(services_.random));
  session.tree = id_;
  session.delegation = delegation.key;
  session.label = delegation.brief.label;
  session.workspace = session.workspace_mode == WorkspaceMode::worktree
                          ? own_folder(parent.workspace, session.id)
                          : parent.workspace;
  session.deadline = deadline_after(session.timeout);
  return session;
}

}  // namespace deputy
