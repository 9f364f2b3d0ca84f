#include "store/session_view.h"

#include <variant>

#include "base/text.h"

namespace deputy {

namespace {

constexpr std::size_t kActivityCharacters = 120;

struct Fold {
  Session& session;
  const Event& event;

  void operator()(const SessionCreated& fact) const {
    session = fact.session;
    session.created_at = event.at;
  }
  void operator()(const RunStarted&) const {
    session.state = SessionState::running;
    session.run = event.run.number;
    if (!session.started_at) session.started_at = event.at;
    session.ended_at.reset();
  }
  void operator()(const ReplyReceived& fact) const {
    session.steps += 1;
    session.usage = session.usage + fact.reply.usage;
  }
  void operator()(const Retried& fact) const { session.usage = session.usage + fact.usage; }
  void operator()(const RequestStopped& fact) const { session.usage = session.usage + fact.usage; }
  void operator()(const DeadlineMoved& fact) const { session.deadline = fact.deadline; }
  void operator()(const CallStarted& fact) const {
    session.last_activity = shorten(on_one_line(fact.tool + " " + fact.shown), kActivityCharacters);
  }
  void operator()(const StateChanged& fact) const { session.state = fact.state; }
  void operator()(const RunEnded& fact) const {
    const Report& report = fact.report;
    session.state = state_after(report.status);
    session.ended_at = event.at;
    session.result = report.body;
    session.reason = report.reason;
    session.error = report.errors.empty() ? "" : report.errors.front().message;
  }
  void operator()(const QuestionAsked&) const { session.state = SessionState::waiting; }
  void operator()(const QuestionAnswered&) const { session.state = SessionState::running; }
  void operator()(const auto&) const {}
};

}  // namespace

void apply_to_session(Session& session, const Event& event) {
  std::visit(Fold{session, event}, event.fact);
  session.last_event_at = event.at;
}

}  // namespace deputy
