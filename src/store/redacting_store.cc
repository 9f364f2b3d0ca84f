#include "store/redacting_store.h"

#include <utility>

namespace deputy {
namespace {

struct Cleaning {
  const Redactor& redactor;

  void all(std::string& text) const { text = redactor.redact(text); }
  void values(std::string& text) const { text = redactor.redact_values(text); }

  void operator()(SessionCreated& fact) const {
    all(fact.session->prompt);
    all(fact.session->label);
  }
  void operator()(InputGiven& fact) const { all(fact.text); }
  void operator()(ReplyReceived& fact) const { clean(fact.reply); }
  void operator()(Compacted& fact) const { clean(fact.reply); }
  void clean(Reply& reply) const {
    Message& message = reply.message;
    values(message.text);
    values(message.thinking);
    values(message.wire);
    for (Call& call : message.calls) values(call.arguments);
    all(reply.error);
  }
  void operator()(RequestStopped& fact) const { all(fact.text); }
  void operator()(ReplyHeard& fact) const { all(fact.text); }
  void operator()(CallStarted& fact) const { all(fact.shown); }
  void operator()(CallFinished& fact) const { all(fact.result.content); }
  void operator()(NoteTaken& fact) const { all(fact.content); }
  void operator()(QuestionAsked& fact) const {
    all(fact.question.label);
    all(fact.question.text);
    for (std::string& suggestion : fact.question.suggestions) all(suggestion);
  }
  void operator()(QuestionAnswered& fact) const { all(fact.answer.text); }
  void operator()(Retried& fact) const { all(fact.reason); }
  void operator()(StateChanged& fact) const { all(fact.why); }
  void operator()(Nudged& fact) const { all(fact.text); }
  void operator()(Delivered& fact) const { all(fact.text); }
  void operator()(RunEnded& fact) const {
    Report& report = *fact.report;
    all(report.label);
    all(report.summary);
    all(report.body);
    for (Artifact& artifact : report.artifacts) {
      all(artifact.path);
      all(artifact.kind);
      all(artifact.description);
    }
    for (ReportedError& error : report.errors) {
      all(error.type);
      all(error.code);
      all(error.message);
      all(error.recommendation);
    }
    for (std::string& step : report.next_steps) all(step);
    for (CommandRun& run : report.commands) all(run.command);
    all(report.workspace.diff);
  }
  void operator()(auto&) const {}
};

}  // namespace

Fact redacted(Fact fact, const Redactor& redactor) {
  std::visit(Cleaning{redactor}, fact);
  return fact;
}

std::vector<Event> RedactingStore::clean(std::vector<Event> events) const {
  for (Event& event : events) event.fact = redacted(std::move(event.fact), redactor_);
  return events;
}

Task<Result<void>> RedactingStore::record(std::vector<Event> events) {
  return inner_->record(clean(std::move(events)));
}

Result<std::int64_t> RedactingStore::post(const Letter& letter) {
  Letter clean = letter;
  clean.text = redactor_.redact(clean.text);
  return inner_->post(clean);
}

void RedactingStore::ride_along(std::vector<Event> events) { inner_->ride_along(clean(std::move(events))); }

}  // namespace deputy
