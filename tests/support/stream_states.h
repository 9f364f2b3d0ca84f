// The states of sessions as the event stream tells them, beside those that the same events give them in the
// store. A surface that has only the stream must not believe another one.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/json.h"
#include "store/session_view.h"
#include "transcript/event.h"

namespace deputy {

class StreamStates {
 public:
  // What is wrong after this event; nothing where both say the same.
  std::string fault_after(const Event& event, const EventOrigin& origin) {
    const SessionId& id = event.run.session;
    const auto [kept, is_new] = sessions_.try_emplace(id);
    Session& session = kept->second;
    if (is_new && !origin.parent.empty()) session.parent = origin.parent;
    apply_to_session(session, event);
    if (std::holds_alternative<SessionCreated>(event.fact)) told_.erase(id);
    for (const auto& line : to_lines(event, origin)) {
      if (string_or(line, "event", "") == "session.status")
        told_[id] = said(string_or(line, "state", ""), string_or(line, "waits_for", ""));
      if (std::holds_alternative<RunEnded>(event.fact) && line.contains("status"))
        told_[id] = said(string_or(line, "status", ""), "");  // the last of them is in the session's words
    }
    const std::string told = told_of(id);
    const std::string is = said(name_of(session.state), session.wait ? session.wait->owner : "");
    if (told.empty() || told == is) return {};
    return fmt::format("{} is {}, but the stream says {} after {} {}", id.value, is, told, event.seq,
                       kind_of(event.fact));
  }

  // "running", or "waiting for …"; empty where nothing was told yet.
  std::string told_of(const SessionId& id) const {
    const auto told = told_.find(id);
    return told == told_.end() ? "" : told->second;
  }

 private:
  static std::string said(std::string_view state, std::string_view waits_for) {
    return waits_for.empty() ? std::string(state) : fmt::format("{} for {}", state, waits_for);
  }

  std::map<SessionId, Session> sessions_;
  std::map<SessionId, std::string> told_;
};

}  // namespace deputy
