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
  void operator()(const RunStarted& fact) const {
    runs();
    session.run = event.run.number;
    if (session.run > 1) session.deadline = fact.deadline;
    if (!session.started_at) session.started_at = event.at;
    session.ended_at.reset();
  }
  void operator()(const ReplyReceived& fact) const {
    const Reply& reply = fact.reply;
    const bool had_no_room = reply.stop == ReplyStop::over_budget && reply.message.text.empty();
    if (!had_no_room) session.steps += 1;
    session.usage = session.usage + fact.reply.usage;
  }
  void operator()(const Retried& fact) const { session.usage = session.usage + fact.usage; }
  void operator()(const RequestStopped& fact) const { session.usage = session.usage + fact.usage; }
  void operator()(const Compacted& fact) const { session.usage = session.usage + fact.reply.usage; }
  void operator()(const DeadlineMoved& fact) const { session.deadline = fact.deadline; }
  void operator()(const CallStarted& fact) const {
    session.last_activity = shorten(on_one_line(fact.tool + " " + fact.shown), kActivityCharacters);
  }
  void operator()(const StateChanged& fact) const {
    session.state = fact.state;
    session.wait.reset();
    if (fact.state == SessionState::waiting)
      session.wait = Wait{fact.waits_for, fact.why, event.at, fact.until};
  }
  void operator()(const RunEnded& fact) const {
    const Report& report = fact.report;
    session.state = state_after(report.status);
    session.wait.reset();
    session.ended_at = event.at;
    session.result = report.body;
    session.reason = report.reason;
    session.error = report.errors.empty() ? "" : report.errors.front().message;
  }
  void operator()(const QuestionAsked& fact) const {
    const Question& question = fact.question;
    const bool asks_parent = question.kind == QuestionKind::to_parent && session.parent;
    session.state = SessionState::waiting;
    session.wait = Wait{asks_parent ? session.parent->value : std::string(kPerson),
                        "asks: " + shorten(on_one_line(question.text), kActivityCharacters), event.at,
                        question.until, question.id};
  }
  void operator()(const QuestionAnswered& fact) const {
    if (session.wait && session.wait->question == fact.question_id) runs();
  }
  void operator()(const auto&) const {}

  void runs() const {
    session.state = SessionState::running;
    session.wait.reset();
  }
};

}  // namespace

void apply_to_session(Session& session, const Event& event) {
  std::visit(Fold{session, event}, event.fact);
  session.last_event_at = event.at;
}

bool changes_what_is_settled(const Event& event) {
  return std::holds_alternative<SessionCreated>(event.fact) ||
         std::holds_alternative<RunStarted>(event.fact) || std::holds_alternative<DeadlineMoved>(event.fact);
}

bool begins_again(const Event& event) {
  return event.run.number > 1 && std::holds_alternative<RunStarted>(event.fact);
}

}  // namespace deputy
