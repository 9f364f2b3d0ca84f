#include "agent/conversation.h"

#include <algorithm>
#include <utility>

#include "transcript/mail.h"

namespace deputy {

namespace {

PendingCall* find_pending(Conversation& conversation, int index) {
  const auto found = std::ranges::find(conversation.pending, index, &PendingCall::index);
  return found == conversation.pending.end() ? nullptr : &*found;
}

struct Fold {
  Conversation& conversation;
  const Event& event;

  void operator()(const RunStarted&) const {
    if (!conversation.started_at) conversation.started_at = event.at;
    conversation.ended.reset();
    conversation.last_reply.reset();
    conversation.run_steps = 0;
  }

  void operator()(const InputGiven& fact) const {
    conversation.messages.push_back({.role = Role::user, .source = fact.source, .text = fact.text});
  }

  void operator()(const ReplyReceived& fact) const {
    conversation.last_reply = fact.reply;
    conversation.step = event.step + 1;
    conversation.run_steps += 1;
    conversation.usage = conversation.usage + fact.reply.usage;
    conversation.pending.clear();
    conversation.results.clear();
    const Message& message = fact.reply.message;
    if (fact.reply.usage.input > 0) {
      conversation.measured = {.messages = conversation.messages.size(), .tokens = fact.reply.usage.input};
    }
    if (message.text.empty() && message.calls.empty() && message.wire.empty()) return;  // it said nothing
    conversation.messages.push_back(message);
    if (fact.reply.stop != ReplyStop::calls) return;  // a truncated reply's calls are not run
    for (int index = 0; const auto& call : message.calls)
      conversation.pending.push_back({.index = index++, .call = call});
    conversation.results.resize(message.calls.size());
  }

  void operator()(const Retried& fact) const { conversation.usage = conversation.usage + fact.usage; }
  void operator()(const RequestStopped& fact) const { conversation.usage = conversation.usage + fact.usage; }

  void operator()(const CallStarted& fact) const {
    auto* pending = find_pending(conversation, event.call);
    if (!pending) return;
    pending->started = true;
    pending->traces.emplace_back(fact);
  }

  void operator()(const FileTouched& fact) const {
    conversation.files_seen.insert_or_assign(fact.file.path, fact.file.after);
  }

  void operator()(const CallFinished& fact) const {
    const auto* pending = find_pending(conversation, event.call);
    if (!pending) return;
    ToolResult& result = conversation.results[static_cast<std::size_t>(event.call)] = fact.result;
    result.name = pending->call.name;  // some providers want a result to name its tool
    std::erase_if(conversation.pending, [this](const PendingCall& call) { return call.index == event.call; });
    if (!conversation.pending.empty()) return;
    conversation.messages.push_back({.role = Role::tool, .results = std::exchange(conversation.results, {})});
  }

  void operator()(const NoteTaken& fact) const {
    conversation.notes.push_back(fact.content);
    if (auto* pending = find_pending(conversation, event.call)) pending->traces.emplace_back(fact);
  }

  void operator()(const QuestionAsked& fact) const {
    if (fact.question.kind != QuestionKind::permission) conversation.questions += 1;
    if (auto* pending = find_pending(conversation, event.call)) pending->traces.emplace_back(fact);
  }

  void operator()(const QuestionAnswered& fact) const {
    if (auto* pending = find_pending(conversation, event.call)) pending->traces.emplace_back(fact);
  }

  void operator()(const Nudged& fact) const { conversation.unread.push_back(fact); }

  void operator()(const Delivered& fact) const {
    conversation.messages.push_back({.role = Role::user, .source = fact.source, .text = fact.text});
    conversation.last_reply.reset();  // there is something to reply to
    conversation.delivered.insert(fact.item);
    std::erase_if(conversation.unread,
                  [&](const Nudged& nudge) { return nudge_item(nudge.id) == fact.item; });
    for (auto& [child, beside] : conversation.beside) {
      if (report_item(child, beside.run) == fact.item) beside.owed = false;
    }
  }

  void operator()(const Detached& fact) const {
    conversation.beside[fact.child] = {.run = fact.run};
    if (!fact.question_id.empty()) conversation.delivered.insert(question_item(fact.question_id));
  }

  void operator()(const Attached& fact) const {
    if (auto* pending = find_pending(conversation, event.call)) pending->traces.emplace_back(fact);
    const auto found = conversation.beside.find(fact.child);
    if (found != conversation.beside.end()) found->second = {.run = fact.run, .owed = false};
  }

  void operator()(const RunEnded& fact) const { conversation.ended = fact.report; }

  void operator()(const auto&) const {}
};

}  // namespace

void apply(Conversation& conversation, const Event& event) {
  std::visit(Fold{conversation, event}, event.fact);
}

Conversation conversation_of(const std::vector<Event>& events) {
  Conversation conversation;
  for (const auto& event : events) apply(conversation, event);
  return conversation;
}

}  // namespace deputy
