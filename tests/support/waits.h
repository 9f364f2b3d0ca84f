// What is wrong with the waits of a tree, at a moment at which nothing moves: a deadline ends also a wait
// that nobody would have ended.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "transcript/event.h"
#include "transcript/session.h"

namespace deputy {

using Sessions = std::map<SessionId, Session>;

inline std::string owner_of(const Wait& wait, const Sessions& all) {
  const auto owner = all.find(SessionId(wait.owner));
  return owner == all.end() ? wait.owner : owner->second.label;
}

// What is wrong with the session's wait, or with one that it rests on; nothing where it will end. Whoever
// runs is bound by its deadline, or by what is heard of it. A circle is a fault whatever deadline would break
// it. Those of `left` may not have been taken up again since a process was left: of them nothing is known.
inline std::string fault_of(const Session& session, const Sessions& all,
                            const std::set<SessionId>& left = {}) {
  std::set<SessionId> seen;
  const Session* at = &session;
  while (at->state == SessionState::waiting && !left.contains(at->id)) {
    if (!at->wait || at->wait->owner.empty()) return at->label + " waits for nobody";
    if (!seen.insert(at->id).second) return at->label + " waits for itself";
    const Wait& wait = *at->wait;
    if (wait.owner == kPerson) return {};
    if (!wait.until) return fmt::format("{} waits for {} without an end", at->label, owner_of(wait, all));
    if (wait.owner == kPlace) {
      const bool is_held = std::ranges::any_of(
          all, [](const auto& each) { return each.second.state == SessionState::running; });
      return is_held ? "" : at->label + " waits for a place that nobody has";
    }
    const auto owner = all.find(SessionId(wait.owner));
    if (owner == all.end()) return at->label + " waits for what is not there";
    if (is_terminal(owner->second.state))
      return fmt::format("{} waits for {}, which has ended", at->label, owner->second.label);
    at = &owner->second;
  }
  const bool is_bound = at == &session || at->state == SessionState::running || left.contains(at->id);
  return is_bound ? "" : fmt::format("{} rests on {}, which does not run", session.label, at->label);
}

// By the session whose wait it is.
inline std::map<SessionId, std::string> faults_in(const Sessions& all, const std::set<SessionId>& left = {}) {
  std::map<SessionId, std::string> faults;
  for (const auto& [id, session] : all) {
    if (session.state != SessionState::waiting) continue;
    if (auto fault = fault_of(session, all, left); !fault.empty()) faults.emplace(id, std::move(fault));
  }
  return faults;
}

// Whoever holds a place runs.
inline int running_in(const Sessions& all) {
  return static_cast<int>(std::ranges::count_if(
      all, [](const auto& each) { return each.second.state == SessionState::running; }));
}

// Those that a process which is left now leaves to the next one.
inline std::set<SessionId> unfinished_in(const Sessions& all) {
  std::set<SessionId> unfinished;
  for (const auto& [id, session] : all) {
    if (!is_terminal(session.state)) unfinished.insert(id);
  }
  return unfinished;
}

// Whether the event shows that its session was taken up: these two may be recorded for one that nobody runs.
inline bool shows_taken_up(const Event& event) {
  return !std::holds_alternative<Nudged>(event.fact) && !std::holds_alternative<BudgetReserved>(event.fact);
}

}  // namespace deputy
