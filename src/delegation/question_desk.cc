#include "delegation/question_desk.h"

#include <utility>

#include "base/text.h"

namespace deputy {

Answer answer_in_words(const Question& question, const std::string& text) {
  if (question.kind != QuestionKind::permission) return {AnswerKind::text, text, Source::person};
  const std::string word = lowered(trimmed(text));
  if (word == "y" || word == "yes") return {AnswerKind::approved, "", Source::person};
  constexpr std::string_view kNo = "no";
  const std::string_view reason =
      word.starts_with(kNo) ? trimmed(trimmed(text).substr(kNo.size())) : trimmed(text);
  return {AnswerKind::refused, std::string(reason), Source::person};
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
