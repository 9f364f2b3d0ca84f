#include <array>
#include <utility>

#include "transcript/codec.h"
#include "transcript/event.h"

namespace deputy {

namespace {

std::string_view session_event_of(Status status) {
  switch (status) {
    case Status::failed:
      return "session.failed";
    case Status::cancelled:
      return "session.cancelled";
    default:
      return "session.completed";
  }
}

// One line under construction for each thing a surface is told.
class Lines {
 public:
  Lines(const Event& event, const EventOrigin& origin) : event_(event), origin_(origin) {}

  void say(std::string_view name, json::object details) {
    json::object line{{"v", 1},
                      {"event", name},
                      {"seq", event_.seq},
                      {"at", to_iso8601(event_.at)},
                      {"session_id", event_.run.session.value},
                      {"parent_id", nullptr},
                      {"label", origin_.label},
                      {"agent", origin_.agent}};
    if (!origin_.parent.empty()) line["parent_id"] = origin_.parent.value;
    for (auto& [key, value] : details) line[key] = std::move(value);
    lines_.push_back(std::move(line));
  }
  std::vector<json::object> take() { return std::move(lines_); }

  void operator()(const SessionCreated& fact) {
    say("session.created", {{"depth", fact.session->depth}, {"model", fact.session->model.value}});
  }
  void operator()(const RunStarted& fact) {
    json::object started{{"index", fact.index}, {"total", fact.total}, {"run", event_.run.number}};
    if (fact.task != RunTask::reply) started["task"] = name_of(fact.task);
    say("started", std::move(started));
    say("session.status", {{"state", "running"}});
  }
  void operator()(const InputGiven& fact) {
    if (fact.about == Reason::none) return;  // the brief is its session's own
    say("nudge", {{"source", name_of(fact.source)}, {"text", fact.text}, {"about", name_of(fact.about)}});
  }
  void operator()(const Nudged& fact) {
    say("nudge", {{"id", fact.id}, {"source", name_of(fact.source)}, {"text", fact.text}});
  }
  void operator()(const Delivered& fact) {
    say("session.progress", {{"step", event_.step}, {"delivered", fact.item}});
  }
  void operator()(const Detached& fact) {
    say("session.progress", {{"step", event_.step}, {"detached", fact.child.value}});
  }
  void operator()(const Attached& fact) {
    say("session.progress", {{"step", event_.step}, {"attached", fact.child.value}});
  }
  void operator()(const ReplyReceived& fact) {
    const Usage& usage = fact.reply.usage;
    say("step", {{"step", event_.step}, {"stop", name_of(fact.reply.stop)}, {"usage", to_json(usage)}});
    say("tokens", {{"input", usage.input}, {"output", usage.output}});
  }
  void operator()(const CallStarted& fact) {
    say("tool_call",
        {{"tool", fact.tool}, {"args", fact.shown}, {"step", event_.step}, {"call", event_.call}});
  }
  void operator()(const CallFinished& fact) {
    say("session.progress", {{"step", event_.step},
                             {"call", event_.call},
                             {"result", fact.result.status == ToolStatus::ok ? "ok" : "error"},
                             {"bytes", fact.result.content.size()}});
  }
  void operator()(const NoteTaken& fact) { say("note", {{"content", fact.content}}); }
  void operator()(const QuestionAsked& fact) {
    const bool permission = fact.question.kind == QuestionKind::permission;
    say(permission ? "permission" : "question", to_json(fact.question));
    const bool asks_parent = fact.question.kind == QuestionKind::to_parent && !origin_.parent.empty();
    json::object status{{"state", name_of(SessionState::waiting)},
                        {"why", "for an answer"},
                        {"waits_for", asks_parent ? std::string_view(origin_.parent.value) : kPerson}};
    if (fact.question.until) status["until"] = to_iso8601(*fact.question.until);
    say("session.status", std::move(status));
  }
  void operator()(const QuestionAnswered& fact) {
    say("answer", {{"question_id", fact.question_id},
                   {"answer", name_of(fact.answer.kind)},
                   {"text", fact.answer.text},
                   {"by", name_of(fact.answer.by)}});  // its session's state is told on its own
  }
  void operator()(const Retried& fact) {
    json::object retry{{"reason", fact.reason},
                       {"attempt", fact.attempt},
                       {"wait_ms", std::chrono::duration_cast<std::chrono::milliseconds>(fact.wait).count()}};
    if (fact.is_last) retry["last"] = true;
    say("retry", std::move(retry));
  }
  void operator()(const StateChanged& fact) {
    json::object status{{"state", name_of(fact.state)}, {"why", fact.why}};
    if (!fact.waits_for.empty()) status["waits_for"] = fact.waits_for;
    if (fact.until) status["until"] = to_iso8601(*fact.until);
    say("session.status", std::move(status));
  }
  void operator()(const ProcessEnded& fact) {
    say("session.progress",
        {{"step", event_.step},
         {"process", fact.program},
         {"cpu_ms", std::chrono::duration_cast<std::chrono::milliseconds>(fact.cpu).count()},
         {"memory", fact.memory}});
  }
  void operator()(const FileTouched&) {}  // the ledger's, not a surface's
  void operator()(const BudgetReserved&) {}
  void operator()(const ReplyHeard&) {}  // who follows the run has heard it
  void operator()(const TakenUp&) {}     // what goes on says so itself
  void operator()(const CommandEnded& fact) {
    say("session.progress",
        {{"step", event_.step}, {"call", event_.call}, {"exit_status", fact.exit_status}});
  }
  void operator()(const Compacted& fact) {
    const Usage& usage = fact.reply.usage;
    const auto summary = summary_in(fact.reply);
    json::object details{{"step", event_.step},
                         {"messages", fact.messages},
                         {"summary", summary.value_or("")},
                         {"usage", to_json(usage)}};
    if (!summary) details["error"] = why_no_summary(fact.reply);
    say("compacted", std::move(details));
    say("tokens", {{"input", usage.input}, {"output", usage.output}});
  }
  void operator()(const RequestStopped& fact) {
    if (fact.usage == Usage{}) return;
    say("tokens", {{"input", fact.usage.input}, {"output", fact.usage.output}});
  }
  void operator()(const DeadlineMoved& fact) {
    say("session.progress", {{"deadline", to_iso8601(fact.deadline)}});
  }
  void operator()(const RunEnded& fact) {
    const Report& report = fact.report;
    say("report", {{"report", to_json(report)}});
    json::object completed{{"status", batch_status(report.status)}};
    if (report.reason != Reason::none) completed["reason"] = name_of(report.reason);
    say("completed", completed);
    say(session_event_of(report.status), {{"status", name_of(report.status)}});
    // By the time a run's end is recorded, its processes are gone and its workspace is put away.
    const bool has_own =
        report.workspace.mode == WorkspaceMode::scratch || report.workspace.mode == WorkspaceMode::worktree;
    json::object cleaned{{"kept", nullptr}};
    if (has_own && !report.workspace.path.empty()) cleaned["kept"] = report.workspace.path;
    say("cleaned", std::move(cleaned));
  }

 private:
  const Event& event_;
  const EventOrigin& origin_;
  std::vector<json::object> lines_;
};

}  // namespace

std::vector<json::object> to_lines(const Event& event, const EventOrigin& origin) {
  Lines lines(event, origin);
  std::visit(lines, event.fact);
  return lines.take();
}

}  // namespace deputy
