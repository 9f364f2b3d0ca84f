#include "delegation/question_desk.h"

#include <utility>

#include "base/text.h"

namespace deputy {
namespace {

std::string why_unanswered(StopReason reason) {
  return reason == StopReason::user ? "the person stopped it instead of answering"
                                    : "it was stopped before there was an answer";
}

}  // namespace

std::optional<Answer> answer_from(std::string_view line) {
  const std::string_view text = trimmed(line);
  const std::size_t space = text.find_first_of(" \t,:");
  const std::string first = lowered(text.substr(0, space));
  const std::string_view rest =
      space == std::string_view::npos ? std::string_view{} : trimmed(text.substr(space + 1));
  if (first == "y" || first == "yes") {
    // "yes, but …" is not a yes.
    return rest.empty() ? std::optional(Answer{AnswerKind::approved, ""}) : std::nullopt;
  }
  if (first == "n" || first == "no") return Answer{AnswerKind::refused, to_utf8(rest)};
  return std::nullopt;
}

Answer answer_in_words(const Question& question, const std::string& text) {
  if (question.kind != QuestionKind::permission) return {AnswerKind::text, text, Source::person};
  Answer answer = answer_from(text).value_or(Answer{AnswerKind::refused, to_utf8(trimmed(text))});
  answer.by = Source::person;
  return answer;
}

Task<Answer> QuestionDesk::ask(Question question, StopToken stop) {
  if (attendance_ == Attendance::approves_all && question.kind == QuestionKind::permission) {
    co_return Answer{AnswerKind::approved, ""};
  }
  if (attendance_ != Attendance::person) co_return Answer{AnswerKind::nobody, ""};
  const Waiter<Answer> waiter;
  const std::string id = question.id;
  held_.insert_or_assign(id, Held{std::move(question), waiter});
  const auto on_stop = stop.on_stop([waiter] { waiter.resume({AnswerKind::nobody, ""}); });
  Answer answer = co_await waiter.wait();
  held_.erase(id);
  if (answer.kind == AnswerKind::nobody && stop.stopped()) answer.text = why_unanswered(stop.reason());
  co_return answer;
}

bool QuestionDesk::answer(const std::string& question_id, Answer answer) {
  const auto found = held_.find(question_id);
  if (found == held_.end() || found->second.waiter.resumed()) return false;
  found->second.waiter.resume(std::move(answer));
  return true;
}

std::vector<Question> QuestionDesk::waiting() const {
  std::vector<Question> questions;
  for (const auto& [id, held] : held_) questions.push_back(held.question);
  return questions;
}

}  // namespace deputy
