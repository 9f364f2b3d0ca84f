#include "delegation/giving_up.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "agent/next.h"
#include "delegation/session_event.h"

namespace deputy {
namespace {

// The end of a session that is cancelled where it stands.
std::vector<Event> end_of(const Session& session, const std::vector<Event>& events, WallTime now) {
  Conversation so_far = conversation_of(events);
  std::vector<Event> end;
  if (so_far.ended) {  // another run, left before there was a place for it
    end.push_back(event_of(session, RunStarted{.deadline = session.deadline}, so_far.step));
    apply(so_far, end.back());
  }
  const Finish cancelled{Status::cancelled, Reason::cancelled_by_user, "cancelled by the person"};
  Report report = report_of(so_far, session, cancelled, now);
  report.workspace = {.mode = session.workspace_mode, .path = session.workspace};
  end.push_back(event_of(session, RunEnded{std::move(report)}, so_far.step));
  return end;
}

}  // namespace

Task<Result<void>> give_up(Store& store, SessionId tree, WallTime now) {
  CO_TRY(const auto events, store.claim(tree));
  std::map<SessionId, std::vector<Event>> of_session;
  for (const Event& event : events) of_session[event.run.session].push_back(event);
  CO_TRY(auto left, store.sessions({.tree = tree, .unfinished_only = true, .most = 1'000'000}));
  std::ranges::sort(left, std::ranges::greater(), &Session::depth);  // children end before their parents
  std::vector<Event> ends;
  for (const Session& session : left)
    std::ranges::move(end_of(session, of_session[session.id], now), std::back_inserter(ends));
  auto recorded = co_await store.record(std::move(ends));
  store.release(tree);
  co_return recorded;
}

}  // namespace deputy
