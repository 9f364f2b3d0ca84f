#include "delegation/giving_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "agent/next.h"
#include "delegation/session_event.h"

namespace deputy {
namespace {

// It did not wait for what it had running: its next run is told of that.
ReportedError ended_for_it(const Session& session) {
  return {.type = "internal",
          .code = std::string(kForcedEnd),
          .message = "nobody ran it when it was cancelled, so its end was recorded for it",
          .recoverable = true,
          .recommendation = fmt::format("`deputy sessions show {}` names its last call", session.id.value)};
}

// The end of a session that is cancelled where it stands; nothing where its run has ended.
std::vector<Event> end_of(const Session& session, const std::vector<Event>& events, WallTime now) {
  const auto is_end_of_this_run = [&session](const Event& event) {
    return event.run.number == session.run && std::holds_alternative<RunEnded>(event.fact);
  };
  if (std::ranges::any_of(events, is_end_of_this_run)) return {};
  Conversation so_far = conversation_of(events);
  std::vector<Event> end;
  if (so_far.ended) {  // another run, left before there was a place for it
    end.push_back(event_of(session, RunStarted{.deadline = session.deadline}, so_far.step));
    apply(so_far, end.back());
  }
  const Finish cancelled{Status::cancelled, Reason::cancelled_by_user, "cancelled by the person"};
  Report report = report_of(so_far, session, cancelled, now);
  report.workspace = {.mode = session.workspace_mode, .path = session.workspace};
  report.errors.push_back(ended_for_it(session));
  end.push_back(event_of(session, RunEnded{std::move(report)}, so_far.step));
  return end;
}

Result<std::vector<Event>> ends_of(const Store& store, const SessionId& tree,
                                   const std::vector<Event>& events, WallTime now) {
  std::map<SessionId, std::vector<Event>> of_session;
  for (const Event& event : events) of_session[event.run.session].push_back(event);
  TRY(auto left, store.sessions({.tree = tree, .unfinished_only = true, .most = kAllSessions}));
  std::ranges::sort(left, std::ranges::greater(), &Session::depth);  // children end before their parents
  std::vector<Event> ends;
  for (const Session& session : left)
    std::ranges::move(end_of(session, of_session[session.id], now), std::back_inserter(ends));
  TRY(const auto root, store.session(tree));
  if (root && !ends.empty()) ends.insert(ends.begin(), event_of(*root, TakenUp{}));
  return ends;
}

}  // namespace

Task<Result<void>> give_up(Store& store, SessionId tree, WallTime now) {
  CO_TRY(const auto events, store.claim(tree));
  auto ends = ends_of(store, tree, events, now);
  Result<void> recorded;
  if (ends) {
    recorded = co_await store.record(*std::move(ends));
  } else {
    recorded = std::unexpected(std::move(ends).error());
  }
  store.release(tree);
  co_return recorded;
}

}  // namespace deputy
