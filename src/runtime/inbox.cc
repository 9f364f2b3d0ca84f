#include "runtime/inbox.h"

#include <utility>

#include "async/sleep.h"
#include "base/text.h"

namespace deputy {
namespace {

// "yes" and "no" to a permission; anything else to a question that wants words.
std::optional<Answer> answer_to(const Question& question, const std::string& text) {
  if (question.kind != QuestionKind::permission) return Answer{AnswerKind::text, text, Source::person};
  const std::string word = lowered(trimmed(text));
  if (word == "y" || word == "yes") return Answer{AnswerKind::approved, "", Source::person};
  constexpr std::string_view kNo = "no";
  const std::string_view reason =
      word.starts_with(kNo) ? trimmed(trimmed(text).substr(kNo.size())) : trimmed(text);
  return Answer{AnswerKind::refused, std::string(reason), Source::person};
}

}  // namespace

Task<> Inbox::watch(Loop& loop, Duration every, StopToken stop) {
  while (co_await sleep_for(loop, every, stop) == Slept::through) co_await look();
}

Task<> Inbox::look() {
  if (tree_.id().empty()) co_return;
  const auto letters = store_.letters(tree_.id());
  if (!letters) co_return;
  for (const Letter& letter : *letters) {
    // What cannot be discarded now is met again, and does no harm.
    if (co_await act_on(letter)) (void)store_.discard(letter.id);
  }
}

Task<bool> Inbox::act_on(Letter letter) {
  const auto session = store_.session(letter.session);
  const bool has_ended = session && *session && is_terminal((*session)->state);
  switch (letter.kind) {
    case LetterKind::cancel:
      if (!has_ended) tree_.cancel(letter.session, StopReason::user);
      co_return has_ended;
    case LetterKind::answer:
      co_return answer(letter) || has_ended;
    case LetterKind::nudge:
      break;
  }
  if (has_ended) co_return true;
  const auto sent = co_await tree_.nudge(
      letter.session, {"letter_" + std::to_string(letter.id), Source::person, letter.text});
  co_return sent.has_value();
}

// Its asker records the answer before anything follows from it; a letter that comes again finds no question.
bool Inbox::answer(const Letter& letter) {
  for (const Question& question : desk_.waiting()) {
    if (question.asker != letter.session) continue;
    return desk_.answer(question.id, *answer_to(question, letter.text));
  }
  const auto question = tree_.running().question_of(letter.session);
  return question && tree_.running().answer(letter.session, question->id,
                                            {AnswerKind::text, letter.text, Source::person});
}

}  // namespace deputy
