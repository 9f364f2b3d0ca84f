#include "agent/conversation.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "base/text.h"
#include "transcript/call_traces.h"
#include "transcript/mail.h"

namespace deputy {

namespace {

PendingCall* find_pending(Conversation& conversation, int index) {
  const auto found = std::ranges::find(conversation.pending, index, &PendingCall::index);
  return found == conversation.pending.end() ? nullptr : &*found;
}

constexpr std::string_view kCommandTool = "Bash";
constexpr std::size_t kCommandBytes = 4096;  // that are kept of one

// What was run: whole, or its beginning and its end.
std::string command_in(const Call& call, const CallStarted& started) {
  const auto arguments = parse_json_object(call.arguments);
  const auto command = arguments ? string_at(*arguments, "command") : std::nullopt;
  return bounded(command.value_or(started.shown), kCommandBytes).text;
}

// Each file as it was at first and is now; one that is again as it was has not changed.
void note_change(std::vector<FileChange>& files, const FileChange& change) {
  if (change.before == change.after) return;
  const auto known = std::ranges::find(files, change.path, &FileChange::path);
  if (known == files.end()) {
    files.push_back(change);
  } else if (known->before == change.after) {
    files.erase(known);
  } else {
    known->after = change.after;
  }
}

void note_result(Repetition& repetition, const Call& call, const ToolResult& result) {
  constexpr std::hash<std::string_view> kDigest;
  const std::array of{kDigest(call.name), kDigest(call.arguments), kDigest(result.content)};
  if (of != repetition.of) repetition.streak = 0;
  repetition.of = of;
  repetition.streak += 1;
  repetition.peak = std::max(repetition.peak, repetition.streak);
}

// Of a call that needed approval; nothing where it was approved.
std::optional<Denial> denial_in(const Answer& answer) {
  if (answer.kind == AnswerKind::nobody) return Denial::by_nobody;
  if (answer.kind != AnswerKind::refused) return std::nullopt;
  return answer.by == Source::person ? Denial::by_person : Denial::by_profile;
}

// It was cut short, so it may say less than it was about to.
bool breaks_off(ReplyStop stop) {
  return stop != ReplyStop::finished && stop != ReplyStop::calls && stop != ReplyStop::paused;
}

// What it was asked with fitted its window. Of other failures nobody can tell.
bool was_taken(ReplyStop stop) {
  return stop == ReplyStop::finished || stop == ReplyStop::calls || stop == ReplyStop::paused ||
         stop == ReplyStop::output_limit;
}

constexpr std::size_t kLookedBack = 10;  // calls: five rounds of two

// A call with what came of it, where they stand: both may be long.
struct Made {
  const Call& call;
  const ToolResult& result;
  bool operator==(const Made& other) const {
    return call.name == other.call.name && call.arguments == other.call.arguments &&
           result.content == other.result.content;
  }
};

// The last calls with their results, the latest first, since anybody but the runtime said something.
std::vector<Made> last_calls(const std::vector<Message>& messages) {
  std::vector<Made> last;
  for (std::size_t at = messages.size(); at-- > 1 && last.size() < kLookedBack;) {
    const Message& message = messages[at];
    if (message.role == Role::user && message.source != Source::runtime) break;
    if (message.role != Role::tool) continue;
    const std::vector<Call>& calls = messages[at - 1].calls;
    for (std::size_t i = std::min(calls.size(), message.results.size()); i-- > 0;)
      last.push_back({calls[i], message.results[i]});
  }
  return last;
}

// How often the last two calls were made in turn; 0 within a round.
int rounds_of_two(const std::vector<Message>& messages) {
  const std::vector<Made> last = last_calls(messages);
  if (last.size() < 4 || last[0] == last[1]) return 0;
  std::size_t count = 2;
  while (count < std::min(last.size(), kLookedBack) && last[count] == last[count - 2]) ++count;
  return count % 2 == 0 ? static_cast<int>(count / 2) : 0;
}

// Several that are refused in one step are one try: it is told of all of them before it can mend any.
void note_reports(Conversation& conversation, const std::vector<Call>& calls,
                  const std::vector<ToolResult>& results) {
  const int refused_before = conversation.refused.count;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (calls[i].name != kCompletionTool) continue;
    if (results[i].status != ToolStatus::ok) {
      conversation.refused = {refused_before + 1, calls[i].arguments, results[i].content};
    } else if (const auto arguments = parse_json_object(calls[i].arguments)) {
      conversation.completion = completion_of(*arguments);
    }
  }
}

// All calls of the last reply have their results.
void close_step(Conversation& conversation) {
  std::vector<ToolResult> results = std::exchange(conversation.results, {});
  const std::vector<Call>& calls = conversation.messages.back().calls;  // until another is said
  conversation.repetition.peak = 0;
  for (std::size_t i = 0; i < results.size(); ++i) note_result(conversation.repetition, calls[i], results[i]);
  note_reports(conversation, calls, results);
  conversation.messages.push_back({.role = Role::tool, .results = std::move(results)});
  conversation.repetition.peak = std::max(conversation.repetition.peak, rounds_of_two(conversation.messages));
  std::ranges::move(std::exchange(conversation.held, {}), std::back_inserter(conversation.messages));
}

struct Fold {
  Conversation& conversation;
  const Event& event;

  // A run that was stopped leaves calls without a result, and no provider takes a conversation with such.
  void close_calls() const {
    if (conversation.messages.empty() || conversation.messages.back().calls.empty()) return;
    const auto& calls = conversation.messages.back().calls;
    conversation.results.resize(calls.size());
    for (std::size_t at = 0; at < calls.size(); ++at) {
      ToolResult& result = conversation.results[at];
      if (result.call_id.empty() && result.content.empty())
        result = {calls[at].id, ToolStatus::error, "Stopped before it had a result.", calls[at].name};
    }
    close_step(conversation);
    conversation.pending.clear();
  }

  void operator()(const RunStarted& fact) const {
    close_calls();
    conversation.task = fact.task;
    conversation.has_no_summary = false;
    if (fact.task == RunTask::undo_compaction) undo_compaction();
    if (!conversation.started_at || conversation.ended) conversation.started_at = event.at;
    conversation.ended.reset();
    conversation.last_reply.reset();
    conversation.broken_off.clear();
    conversation.paused.clear();
    conversation.asked = false;
    conversation.run_begins = conversation.messages.size();
    conversation.run_steps = 0;
    conversation.pauses = 0;
    conversation.completion.reset();
    conversation.former_report.reset();
    conversation.denied.reset();
    conversation.went_without = false;
    conversation.refused = {};
    conversation.repetition = {};
    conversation.grace.reset();
  }

  void operator()(const InputGiven& fact) const {
    auto& to = conversation.pending.empty() ? conversation.messages : conversation.held;
    to.push_back({.role = Role::user, .source = fact.source, .text = fact.text});
    conversation.has_news = true;
    warn(fact.about);
  }

  void warn(Reason about) const {
    switch (about) {
      case Reason::none:
        return;
      case Reason::repetition:
        conversation.repetition.peak = 0;
        return;
      case Reason::invalid_report:
        conversation.refused = {conversation.refused.count + 1,
                                conversation.last_reply ? conversation.last_reply->message.text : "",
                                "it ended without a report"};
        return;
      default:
        conversation.grace = Grace{.reason = about};
        if (conversation.last_reply) conversation.grace->why = conversation.last_reply->error;
    }
  }

  void operator()(const ReplyReceived& fact) const {
    conversation.last_reply = fact.reply;
    conversation.asked = true;
    conversation.has_news = false;
    if (is_full(conversation)) {
      int& refusals = refusals_by(fact.reply.model);
      refusals = std::max(1, refusals);
    }
    if (was_taken(fact.reply.stop)) conversation.refusals = {};
    conversation.pauses = fact.reply.stop == ReplyStop::paused ? conversation.pauses + 1 : 0;
    if (conversation.grace) conversation.grace->used = true;
    if (fact.reply.stop == ReplyStop::over_budget && fact.reply.message.text.empty())
      return;  // none was made
    conversation.step = event.step + 1;
    conversation.run_steps += 1;
    conversation.usage = conversation.usage + fact.reply.usage;
    conversation.pending.clear();
    conversation.results.clear();
    const Message& message = fact.reply.message;
    if (fact.reply.usage.input > 0 && !is_failure(fact.reply.stop)) {
      conversation.measured = {.messages = told(conversation).size(), .tokens = fact.reply.usage.input};
    }
    if (message.text.empty() && message.calls.empty() && message.wire.empty()) return;  // it said nothing
    if (breaks_off(fact.reply.stop)) conversation.broken_off.insert(conversation.messages.size());
    if (fact.reply.stop == ReplyStop::paused) conversation.paused.insert(conversation.messages.size());
    conversation.messages.push_back(message);
    if (fact.reply.stop != ReplyStop::calls) return;  // a truncated reply's calls are not run
    for (int index = 0; const auto& call : message.calls)
      conversation.pending.push_back({.index = index++, .call = call});
    conversation.results.resize(message.calls.size());
  }

  int& refusals_by(const ModelName& model) const {
    if (conversation.refusals.model != model) conversation.refusals = {.model = model};
    return conversation.refusals.count;
  }

  // The summary stands among the messages, and requests begin with it: so nothing is lost, and to undo it is
  // to take it out again.
  void operator()(const Compacted& fact) const {
    conversation.asked = true;
    conversation.usage = conversation.usage + fact.reply.usage;
    if (conversation.task == RunTask::compact) conversation.last_reply = fact.reply;
    if (fact.reply.stop == ReplyStop::context_exhausted) refusals_by(fact.reply.model) += 1;
    const auto summary = summary_in(fact.reply);
    conversation.has_no_summary = !summary || fact.messages > conversation.messages.size();
    if (conversation.has_no_summary) return;
    conversation.refusals = {};
    if (is_full(conversation)) conversation.last_reply.reset();  // it is asked again, with less
    conversation.compacted_at = conversation.step;
    conversation.compactions.push_back({conversation.told_from, conversation.measured});
    conversation.told_from = fact.messages;
    conversation.measured.reset();
    conversation.stays_whole = false;
    conversation.messages.insert(conversation.messages.begin() + static_cast<std::ptrdiff_t>(fact.messages),
                                 summary_message(*summary));
  }

  void undo_compaction() const {
    if (conversation.compactions.empty()) return;
    const PutAside before = conversation.compactions.back();
    conversation.compactions.pop_back();
    conversation.messages.erase(conversation.messages.begin() +
                                static_cast<std::ptrdiff_t>(conversation.told_from));
    conversation.told_from = before.told_from;
    conversation.measured = before.measured;
    conversation.stays_whole = true;
  }

  void operator()(const Retried& fact) const { conversation.usage = conversation.usage + fact.usage; }
  void operator()(const BudgetReserved&) const { conversation.asked = true; }
  void operator()(const RequestStopped& fact) const {
    conversation.asked = true;
    conversation.usage = conversation.usage + fact.usage;
    if (trimmed(fact.text).empty()) return;
    conversation.broken_off.insert(conversation.messages.size());
    conversation.messages.push_back({.role = Role::assistant, .text = fact.text});
  }

  void operator()(const CallStarted& fact) const {
    auto* pending = find_pending(conversation, event.call);
    if (!pending) return;
    pending->started = true;
    pending->traces.emplace_back(fact);
    if (fact.tool != kCommandTool) return;
    conversation.command_of[{event.step, event.call}] = conversation.commands.size();
    conversation.commands.push_back({command_in(pending->call, fact), std::nullopt});
  }

  void operator()(const FileTouched& fact) const {
    conversation.files_seen.insert_or_assign(fact.file.path, fact.file.after);
    note_change(conversation.files, fact.file);
  }

  void operator()(const CallFinished& fact) const {
    const auto* pending = find_pending(conversation, event.call);
    if (!pending) return;
    ToolResult& result = conversation.results[static_cast<std::size_t>(event.call)] = fact.result;
    result.name = pending->call.name;  // some providers want a result to name its tool
    if (result.exit_status) note_exit(*result.exit_status);
    std::erase_if(conversation.pending, [this](const PendingCall& call) { return call.index == event.call; });
    if (conversation.pending.empty()) close_step(conversation);
  }

  void operator()(const CommandEnded& fact) const { note_exit(fact.exit_status); }

  void note_exit(int status) const {
    const auto found = conversation.command_of.find({event.step, event.call});
    if (found != conversation.command_of.end()) conversation.commands[found->second].exit_status = status;
  }

  void operator()(const NoteTaken& fact) const {
    conversation.notes.push_back(fact.content);
    if (auto* pending = find_pending(conversation, event.call)) pending->traces.emplace_back(fact);
  }

  void operator()(const QuestionAsked& fact) const {
    auto* pending = find_pending(conversation, event.call);
    const bool is_asked_again = pending && asked_before(pending->traces, fact.question.kind);
    if (fact.question.kind != QuestionKind::permission && !is_asked_again) conversation.questions += 1;
    if (pending) pending->traces.emplace_back(fact);
  }

  void operator()(const QuestionAnswered& fact) const {
    auto* pending = find_pending(conversation, event.call);
    if (!pending) return;
    pending->traces.emplace_back(fact);
    const bool is_question = asked_before(pending->traces, QuestionKind::to_parent) ||
                             asked_before(pending->traces, QuestionKind::to_person);
    if (fact.answer.kind == AnswerKind::nobody && is_question) conversation.went_without = true;
    if (const auto denial = is_question ? std::nullopt : denial_in(fact.answer)) conversation.denied = denial;
  }

  void operator()(const Nudged& fact) const { conversation.unread.push_back(fact); }

  void operator()(const Delivered& fact) const {
    if (auto report = std::exchange(conversation.completion, std::nullopt)) {
      conversation.former_report = FormerReport{*std::move(report), conversation.messages.size()};
      conversation.refused = {};  // the next report has as many corrections as the first
    }
    conversation.messages.push_back({.role = Role::user, .source = fact.source, .text = fact.text});
    conversation.last_reply.reset();  // there is something to reply to
    conversation.delivered.insert(fact.item);
    std::erase_if(conversation.unread,
                  [&](const Nudged& nudge) { return nudge_item(nudge.id) == fact.item; });
    for (auto& [run, is_owed] : conversation.beside) {
      if (report_item(run.session, run.number) == fact.item) is_owed = false;
    }
  }

  void operator()(const Detached& fact) const {
    conversation.beside[{fact.child, fact.run}] = true;
    if (!fact.question_id.empty()) conversation.delivered.insert(question_item(fact.question_id));
  }

  void operator()(const Attached& fact) const {
    if (auto* pending = find_pending(conversation, event.call)) pending->traces.emplace_back(fact);
    const auto found = conversation.beside.find({fact.child, fact.run});
    if (found != conversation.beside.end()) found->second = false;
  }

  void operator()(const RunEnded& fact) const { conversation.ended = fact.report; }

  void operator()(const auto&) const {}
};

}  // namespace

std::span<const Message> told(const Conversation& conversation) {
  return std::span(conversation.messages).subspan(conversation.told_from);
}

std::optional<std::size_t> compactable(const Conversation& conversation) {
  std::size_t end = conversation.messages.size();
  while (end > conversation.told_from && conversation.messages[end - 1].role == Role::user) --end;
  return end > conversation.told_from ? std::optional(end) : std::nullopt;
}

bool is_full(const Conversation& conversation) {
  return conversation.last_reply && conversation.last_reply->stop == ReplyStop::context_exhausted;
}

void apply(Conversation& conversation, const Event& event) {
  std::visit(Fold{conversation, event}, event.fact);
}

Conversation conversation_of(const std::vector<Event>& events) {
  Conversation conversation;
  for (const auto& event : events) apply(conversation, event);
  return conversation;
}

}  // namespace deputy
