#include "transcript/call_traces.h"

namespace deputy {

const Question* asked_before(const std::vector<Fact>& traces, QuestionKind kind) {
  const Question* last = nullptr;
  for (const Fact& fact : traces) {
    const auto* asked = std::get_if<QuestionAsked>(&fact);
    if (asked && asked->question.kind == kind) last = &asked->question;
  }
  return last;
}

const Answer* answered_before(const std::vector<Fact>& traces, QuestionKind kind) {
  const Answer* last = nullptr;
  QuestionKind asked_for = QuestionKind::permission;  // which is always the first
  for (const Fact& fact : traces) {
    if (const auto* asked = std::get_if<QuestionAsked>(&fact)) asked_for = asked->question.kind;
    const auto* answered = std::get_if<QuestionAnswered>(&fact);
    if (answered && asked_for == kind) last = &answered->answer;
  }
  return last;
}

}  // namespace deputy
