#include "runtime/inbox.h"

#include <algorithm>
#include <utility>

#include "async/sleep.h"
#include "delegation/mailbox.h"
#include "delegation/question_ids.h"

namespace deputy {
namespace {

bool is_settled(const Store& store, const Letter& letter) {
  const auto events = store.events_of_session(letter.session);
  return events && std::ranges::any_of(
                       *events, [&letter](const Event& event) { return settles(event, letter.question); });
}

constexpr Duration kLongestDeafness = std::chrono::seconds(5);  // where a bell should ring and does not

// Until it has rung, or for as long as a letter may lie.
Task<> hear(Loop& loop, Bell& bell, StopToken stop) {
  StopSource patience(stop);
  patience.set_deadline(loop.timers(), loop.clock().now() + kLongestDeafness);
  co_await bell.wait(patience.token());
}

}  // namespace

Task<> Inbox::watch(Loop& loop, Duration every, Bell* bell, StopToken stop) {
  bool has_more = true;  // what came before it was watched
  for (;;) {
    if (bell && !has_more) co_await hear(loop, *bell, stop);
    // It rings for whatever is kept: so it is not answered more often than one would look without it.
    if (co_await sleep_for(loop, every, stop) == Slept::stopped) co_return;
    has_more = co_await look();
  }
}

Task<bool> Inbox::look() {
  if (tree_.id().empty()) co_return true;
  const auto letters = store_.letters(tree_.id());
  if (!letters) co_return true;
  bool has_more = false;
  for (const Letter& letter : *letters) {
    // What cannot be discarded now is met again, and does no harm.
    const bool is_done = co_await act_on(letter) && store_.discard(letter.id);
    has_more = has_more || !is_done;
  }
  co_return has_more;
}

Task<bool> Inbox::act_on(Letter letter) {
  const auto session = store_.session(letter.session);
  const bool has_ended = session && *session && is_terminal((*session)->state);
  switch (letter.kind) {
    case LetterKind::cancel:
      if (!has_ended) tree_.cancel(letter.session, StopReason::user);
      co_return has_ended;
    case LetterKind::answer:
      answer(letter);
      co_return has_ended || is_settled(store_, letter);
    case LetterKind::nudge:
      break;
  }
  if (has_ended) co_return true;
  const auto sent = co_await tree_.nudge(letter.session, nudge_of(letter));
  co_return sent.has_value();
}

// Its asker records the answer before anything follows from it. Where the question does not wait, it was
// settled, or will be asked again.
void Inbox::answer(const Letter& letter) {
  for (const Question& question : desk_.waiting()) {
    if (question.id == letter.question) desk_.answer(question.id, answer_in_words(question, letter.text));
  }
  const auto question = tree_.running().question_of(letter.session);
  if (question && question->id == letter.question)
    tree_.running().answer(letter.session, question->id, {AnswerKind::text, letter.text, Source::person});
}

}  // namespace deputy
