#include "debts.h"

#include <fmt/format.h>

#include "transcript/mail.h"

namespace deputy {

std::string Debts::fault_after(const Event& event) {
  const SessionId& session = event.run.session;
  if (const auto* mail = std::get_if<Delivered>(&event.fact)) {
    words_.erase({session, mail->item});
    std::erase_if(owed_, [&](const auto& each) {
      const auto& [run, debt] = each;
      return debt.parent == session && report_item(run.session, run.number) == mail->item;
    });
    if (!delivered_.emplace(session, mail->item).second) return mail->item + " was delivered twice";
  }
  const auto is_new = [&](const std::string& item) { return !delivered_.contains({session, item}); };
  if (const auto* word = std::get_if<Nudged>(&event.fact); word && is_new(nudge_item(word->id)))
    words_[{session, nudge_item(word->id)}] = 0;
  if (const auto* left = std::get_if<Detached>(&event.fact);
      left && is_new(report_item(left->child, left->run)))
    owed_[{left->child, left->run}].parent = session;
  if (const auto* taken = std::get_if<Attached>(&event.fact)) owed_.erase({taken->child, taken->run});
  if (std::holds_alternative<RunEnded>(event.fact)) {
    if (const auto ended = owed_.find(event.run); ended != owed_.end()) ended->second.has_ended = true;
  }
  if (const auto* input = std::get_if<InputGiven>(&event.fact)) {
    if (input->about == Reason::timeout || input->about == Reason::max_turns ||
        input->about == Reason::budget)
      at_limit_.insert(event.run);
  }
  const auto* reply = std::get_if<ReplyReceived>(&event.fact);
  if (!reply || reply->reply.stop == ReplyStop::paused || at_limit_.contains(event.run)) return {};
  return lost_after_reply(session);
}

std::string Debts::lost_after_reply(const SessionId& session) {
  constexpr int kTold = 2;  // the first may be to a request that was made before
  for (auto& [run, debt] : owed_) {
    if (!debt.has_ended || debt.parent != session) continue;
    if (++debt.replies_since == kTold)
      return fmt::format("what {} came to was not told to {}", run.session.value, session.value);
  }
  for (auto& [word, replies] : words_) {
    if (word.first == session && ++replies == kTold)
      return fmt::format("{} was not told to {}", word.second, session.value);
  }
  return {};
}

}  // namespace deputy
