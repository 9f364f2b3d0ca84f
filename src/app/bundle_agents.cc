// The agents that a bundle tells of.
#include <map>

#include "app/bundle.h"
#include "delegation/profile_inheritance.h"
#include "transcript/profile_codec.h"

namespace deputy {
namespace {

// What its call had wished is not known: it may have been all that an agent leaves to the call. Nor need its
// parent have had the steps of its first run by then.
Result<Session> as_it_would_be(const Session& child, Session parent, const Profile& profile) {
  parent.max_turns.reset();
  return inherited_session(parent, profile,
                           {.made_by = child.model,
                            .model = child.model,
                            .max_output_tokens = child.max_output_tokens,
                            .max_turns = child.max_turns,
                            .timeout = child.timeout.value_or(kNoTimeout)});
}

bool could_be(const Session& session, const Session* parent, const Profile& profile) {
  if (!parent)
    return session.workspace_mode == profile.workspace && session.max_turns == profile.max_turns &&
           (profile.network || !session.network);
  const auto now = as_it_would_be(session, *parent, profile);
  return now && now->workspace_mode == session.workspace_mode && now->network == session.network &&
         now->kind == session.kind && now->max_turns == session.max_turns &&
         now->permissions == session.permissions;
}

}  // namespace

json::array agents_json(const Profiles& profiles, const std::vector<Event>& events) {
  std::set<std::string> names;  // of those that sessions were
  for (const Event& event : events)
    if (const auto* created = std::get_if<SessionCreated>(&event.fact)) names.insert(created->session->agent);
  const Profiles built_in = Profiles::built_in();
  json::array agents;
  const auto add = [&](Profile profile, bool is_whole) {
    const auto own = built_in.find(profile.name);
    if (own && to_json(**own) == to_json(profile)) return;
    if (!is_whole) profile.instructions.clear();
    agents.emplace_back(to_json(profile));
  };
  for (const std::string& name : names)
    if (const auto profile = profiles.find(name)) add(**profile, true);
  for (const Profile* each : profiles.offered())
    if (!names.contains(each->name)) add(*each, false);
  return agents;
}

Profiles agents_in(const Bundle& bundle) {
  Profiles profiles = Profiles::built_in();
  const auto* agents = array_at(bundle.about, "agents");
  if (!agents) return profiles;
  for (const auto& each : *agents) {
    const auto* told = each.if_object();
    Profile profile = told ? profile_from_json(*told) : Profile{};
    if (!profile.name.empty() && profile.name != kCommandAgent) profiles.add(std::move(profile));
  }
  return profiles;
}

std::set<std::string> changed_agents(const Profiles& profiles, const std::vector<Event>& events) {
  std::map<SessionId, const Session*> sessions;
  std::set<std::string> changed;
  for (const Event& event : events) {
    const auto* created = std::get_if<SessionCreated>(&event.fact);
    if (!created) continue;
    const Session& session = created->session;
    sessions[session.id] = &session;
    const auto parent = session.parent ? sessions.find(*session.parent) : sessions.end();
    const auto profile = profiles.find(session.agent);
    if (!profile || !could_be(session, parent == sessions.end() ? nullptr : parent->second, **profile))
      changed.insert(session.agent);
  }
  return changed;
}

}  // namespace deputy
