#include "app/session_lookup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kMostShown = 3;
constexpr std::string_view kNewest = "newest";

std::string advice_for(const std::string& typed, const std::vector<std::string>& ids) {
  auto near = nearest(typed, ids, kMostShown);
  if (!near.empty()) return fmt::format("did you mean {}?", fmt::join(near, ", "));
  return "`deputy sessions ls` lists them";
}

Result<Session> newest_root(const Store& store) {
  TRY(auto roots, store.sessions({.roots_only = true, .most = 1}));
  if (!roots.empty()) return std::move(roots.front());
  return fail(ErrorCode::not_found, "there is no session yet", "run something first: `deputy demo`");
}

}  // namespace

Result<Session> find_session(const Store& store, const std::string& typed) {
  if (typed == kNewest) return newest_root(store);
  TRY(auto exact, store.session(SessionId(typed)));
  if (exact) return *std::move(exact);
  TRY(const auto sessions, store.sessions({.most = kAllSessions}));
  std::vector<std::string> ids;
  std::vector<const Session*> fitting;
  for (const auto& session : sessions) {
    ids.push_back(session.id.value);
    if (!typed.empty() && session.id.value.starts_with(typed)) fitting.push_back(&session);
  }
  if (fitting.size() == 1) return *fitting.front();
  const std::string shown = shorten(to_utf8(typed), 80);
  if (fitting.empty()) {
    return fail(ErrorCode::not_found, fmt::format("there is no session '{}'", shown), advice_for(typed, ids));
  }
  std::vector<std::string> first;
  for (const auto* session : fitting) {
    if (first.size() < kMostShown) first.push_back(session->id.value);
  }
  return fail(ErrorCode::not_found, fmt::format("{} sessions begin with '{}'", fitting.size(), shown),
              fmt::format("write more of it: {}{}", fmt::join(first, ", "),
                          fitting.size() > kMostShown ? ", …" : ""));
}

OrFailure<Session> session_typed(const Store& store, const std::string& typed) {
  auto found = find_session(store, typed);
  if (found) return *std::move(found);
  const bool is_mistyped = found.error().code == ErrorCode::not_found;
  return std::unexpected(
      CommandFailure(std::move(found).error(), is_mistyped ? ExitStatus::usage : ExitStatus::failed));
}

namespace {

// A child's deadline moves while a person is asked, and the wait for it with that.
void bound_waits_by_deadlines(std::vector<Session>& sessions) {
  std::map<SessionId, const Session*> by_id;
  for (const Session& session : sessions) by_id.emplace(session.id, &session);
  for (Session& session : sessions) {
    const auto owner = session.wait ? by_id.find(SessionId(session.wait->owner)) : by_id.end();
    if (owner != by_id.end() && owner->second->parent == session.id)
      session.wait->until = owner->second->deadline;
  }
}

}  // namespace

std::vector<Session> as_seen(const Store& store, std::vector<Session> sessions) {
  std::map<SessionId, bool> is_held;
  for (Session& session : sessions) {
    if (is_terminal(session.state)) continue;
    const auto [known, is_new] = is_held.try_emplace(session.tree, true);
    if (is_new) {
      const auto holder = store.holder(session.tree);
      known->second = !holder || *holder;
    }
    if (known->second) {
      if (session.state == SessionState::interrupted) session.state = SessionState::running;  // gone on with
      continue;
    }
    session.state = SessionState::interrupted;
    session.wait.reset();
  }
  bound_waits_by_deadlines(sessions);
  return sessions;
}

Session as_seen(const Store& store, Session session) {
  std::vector<Session> sessions{session};
  if (auto tree = store.sessions({.tree = session.tree, .most = kAllSessions})) sessions = *std::move(tree);
  sessions = as_seen(store, std::move(sessions));
  const auto seen = std::ranges::find(sessions, session.id, &Session::id);
  return seen == sessions.end() ? std::move(session) : std::move(*seen);
}

Result<std::vector<Session>> left_unfinished(const Store& store) {
  TRY(auto roots, store.sessions({.roots_only = true, .unfinished_only = true, .most = kAllSessions}));
  roots = as_seen(store, std::move(roots));
  std::erase_if(roots, [](const Session& root) { return root.state != SessionState::interrupted; });
  return roots;
}

ModelName last_model_of(const Session& session, const std::vector<Event>& events) {
  ModelName model = session.model;
  for (const auto& event : events) {
    const auto* started = std::get_if<RunStarted>(&event.fact);
    if (started && event.run.session == session.id && !started->model.empty()) model = started->model;
  }
  return model;
}

}  // namespace deputy
