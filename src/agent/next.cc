#include "agent/next.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/context_estimate.h"

namespace deputy {

namespace {

std::optional<Finish> after_cancel(StopReason stop) {
  switch (stop) {
    case StopReason::user:
      return Finish{Status::cancelled, Reason::cancelled_by_user, "cancelled by the person"};
    case StopReason::terminated:
      return Finish{Status::cancelled, Reason::cancelled_by_user, std::string(kEndedBySigterm)};
    case StopReason::parent:
      return Finish{Status::cancelled, Reason::cancelled_by_parent, "cancelled by its parent"};
    case StopReason::parent_stopped:
      return Finish{Status::cancelled, Reason::parent_stopped, "its parent stopped"};
    case StopReason::unanswered:
      return Finish{Status::blocked, Reason::question_unanswered, "its parent ended without an answer"};
    default:
      return std::nullopt;
  }
}

// `said` is what the provider said of the budget.
std::string limit_text(Reason reason, const RunLimits& limits, const std::string& said = {}) {
  switch (reason) {
    case Reason::max_turns:
      return fmt::format("it reached its limit of {} steps", limits.max_turns.value_or(0));
    case Reason::timeout:
      return "its time was up";
    case Reason::stalled:
      return fmt::format("nothing was heard of it for {}", to_text(kLongestSilence));
    case Reason::budget:
      return said.empty() ? "the budget of its tree was used up" : said;
    default:
      return to_words(reason);
  }
}

// The end at a limit, or the one step before it that is left to report in.
Next at_limit(Reason reason, const RunLimits& limits, const std::string& said = {}) {
  const bool leaves_grace =
      reason == Reason::max_turns || reason == Reason::timeout || reason == Reason::budget;
  if (!limits.is_delegated || !leaves_grace)
    return Finish{Status::partial, reason, limit_text(reason, limits, said)};
  const std::string_view how =
      limits.reporting == Reporting::none ? "as plain text" : "by calling task_completion";
  return Tell{reason,
              fmt::format("A limit is reached ({}). This is your last step: report now, {}, what you "
                          "have found and what is left to do. No other tool but Note still runs. Your "
                          "report will be marked partial.",
                          to_words(reason), how)};
}

// What came in before its last step is told in it, unless there may be room for a report alone.
Next in_grace(const Conversation& conversation, const RunLimits& limits, StopReason stop, MailState mail) {
  const Grace& grace = *conversation.grace;
  if (stop == StopReason::none && !conversation.pending.empty()) return RunCalls{};
  if (stop == StopReason::none && !grace.used) {
    const bool takes_mail = mail == MailState::here && grace.reason != Reason::budget && !limits.is_on_budget;
    return takes_mail ? Next(TakeMail{}) : Next(AskModel{});
  }
  return Finish{Status::partial, grace.reason, limit_text(grace.reason, limits, grace.why)};
}

// By what the child has said of its work itself.
Finish as_reported(const Conversation& conversation, const Completion& completion) {
  if (completion.status == Status::completed) return {};
  Reason reason = Reason::reported;
  if (completion.status == Status::blocked) {
    if (conversation.went_without) reason = Reason::question_unanswered;
    if (conversation.denied) reason = Reason::denied;
  }
  return {completion.status, reason, completion.summary};
}

Finish after_completion(const Conversation& conversation) {
  return as_reported(conversation, *conversation.completion);
}

Finish invalid_report(std::string_view why) {
  return {Status::failed, Reason::invalid_report,
          fmt::format("its report was not valid, also after {} corrections: {}", kCorrections, why)};
}

// It has said its last word, but it owes a report.
Next without_report(const Conversation& conversation) {
  if (conversation.refused.count >= kCorrections) return invalid_report("it ended without a report");
  return Tell{Reason::invalid_report,
              "You have not reported. End by calling task_completion with your report; plain text is not "
              "taken."};
}

// Nothing when the conversation goes on.
std::optional<Next> after_reply(const Conversation& conversation, const RunLimits& limits) {
  const Reply& reply = *conversation.last_reply;
  switch (reply.stop) {
    case ReplyStop::calls:
      return std::nullopt;
    case ReplyStop::paused:
      if (conversation.pauses < kPausesToEnd) return std::nullopt;
      return Finish{Status::partial, Reason::provider_error,
                    fmt::format("the provider paused its answer {} times in a row and never finished it",
                                conversation.pauses)};
    case ReplyStop::finished:
      if (conversation.has_news) return std::nullopt;
      if (limits.reporting == Reporting::demanded) return without_report(conversation);
      if (trimmed(reply.message.text).empty())
        return Finish{Status::partial, Reason::no_text, "the model said nothing"};
      // Plain text adds to what it had reported and does not make it better.
      if (conversation.former_report) return as_reported(conversation, (*conversation.former_report)->report);
      return Finish{};
    case ReplyStop::output_limit:
      return Finish{Status::partial, Reason::output_limit,
                    "the model's answer was cut off by its output limit"};
    case ReplyStop::context_exhausted:
      return Finish{Status::partial, Reason::context_exhausted, reply.error};
    case ReplyStop::over_budget:
      return at_limit(Reason::budget, limits, reply.error);
    case ReplyStop::stalled:
      return Finish{Status::partial, Reason::stalled, reply.error};
    case ReplyStop::refused:
    case ReplyStop::failed:
      return Finish{Status::failed, Reason::provider_error, reply.error};
    case ReplyStop::no_key:
      return Finish{Status::failed, Reason::no_api_key, reply.error};
    case ReplyStop::stopped:
      return Finish{Status::failed, Reason::internal, "a model call stopped by itself"};
  }
  return Finish{Status::failed, Reason::internal, "a reply of an unknown kind"};
}

std::optional<Next> after_refused_report(const Conversation& conversation, const RunLimits& limits) {
  if (limits.reporting == Reporting::none || conversation.refused.count <= kCorrections) return std::nullopt;
  return invalid_report(conversation.refused.why);
}

std::optional<Next> going_in_circles(const Conversation& conversation, const RunLimits& limits) {
  const int peak = conversation.repetition.peak;
  if (!limits.is_delegated || peak < kRepeatsToWarn) return std::nullopt;
  if (peak >= kRepeatsToEnd) {
    return Finish{
        Status::partial, Reason::repetition,
        fmt::format("it made the same call, or the same two in turn, with the same result {} times in a row",
                    peak)};
  }
  return Tell{
      Reason::repetition,
      fmt::format("You have made the same call, or the same two in turn, {} times in a row, with the same "
                  "arguments and the same result. It will not change: do something else, or end with what "
                  "you have. At {} "
                  "you are stopped.",
                  peak, kRepeatsToEnd)};
}

std::int64_t tokens_told(const Conversation& conversation, const RunLimits& limits) {
  const ModelName model = conversation.last_reply ? conversation.last_reply->model : ModelName{};
  return estimated_input(limits.prefix_tokens, model, told(conversation), conversation.measured);
}

// By what was added since a provider has counted, taken for as much as an estimate could make of it: so a
// long conversation is not weighed anew at each step.
bool is_surely_within(const Conversation& conversation, std::int64_t tokens) {
  constexpr std::size_t kMostOfAByte = 3;
  constexpr std::size_t kMostOfAFrame = 64;  // round a message, a call or a result
  const auto messages = told(conversation);
  const auto& measured = conversation.measured;
  if (!measured || measured->messages > messages.size()) return false;
  std::size_t most = 0;
  for (const Message& message : messages.subspan(measured->messages)) {
    std::size_t bytes = message.text.size() + message.wire.size();
    for (const Call& call : message.calls) bytes += call.name.size() + call.arguments.size();
    for (const ToolResult& result : message.results) bytes += result.content.size();
    most += bytes * kMostOfAByte + (1 + message.calls.size() + message.results.size()) * kMostOfAFrame;
  }
  return measured->tokens + static_cast<std::int64_t>(most) <= tokens;
}

bool may_compact(const Conversation& conversation, const RunLimits& limits) {
  return limits.compact_above && !conversation.stays_whole && !conversation.has_no_summary;
}

// The provider would not take what was estimated to fit. Directly behind a summary another one would not
// help.
bool can_make_room(const Conversation& conversation, const RunLimits& limits) {
  const bool is_just_compacted =
      conversation.compacted_at && conversation.step <= *conversation.compacted_at + 1;
  return may_compact(conversation, limits) && is_full(conversation) && !is_just_compacted &&
         compactable(conversation);
}

bool is_compaction_due(const Conversation& conversation, const RunLimits& limits) {
  if (!may_compact(conversation, limits)) return false;
  if (is_surely_within(conversation, *limits.compact_above)) return false;
  return compactable(conversation) && tokens_told(conversation, limits) > *limits.compact_above;
}

// A run that only sees to the session's history.
Next for_history(const Conversation& conversation, const RunLimits& limits) {
  const auto& reply = conversation.last_reply;
  if (conversation.task == RunTask::undo_compaction || (reply && summary_in(*reply))) return Finish{};
  if (!reply && compactable(conversation)) return Compact{};
  if (!reply) return Finish{Status::partial, Reason::no_text, "there was nothing to compact"};
  if (auto next = after_reply(conversation, limits)) return *std::move(next);
  return Finish{Status::partial, Reason::no_text, why_no_summary(*reply)};
}

// Before the model is asked once more.
std::optional<Next> at_own_limit(const Conversation& conversation, const RunLimits& limits) {
  if (limits.max_turns && conversation.run_steps >= *limits.max_turns)
    return at_limit(Reason::max_turns, limits);
  if (limits.max_messages && std::ssize(told(conversation)) > *limits.max_messages) {
    return Finish{Status::partial, Reason::context_exhausted,
                  fmt::format("its conversation holds {} messages; its limit is {}",
                              told(conversation).size(), *limits.max_messages)};
  }
  if (!limits.max_context_tokens || is_surely_within(conversation, *limits.max_context_tokens))
    return std::nullopt;
  if (is_compaction_due(conversation, limits)) return std::nullopt;
  const auto tokens = tokens_told(conversation, limits);
  if (tokens <= *limits.max_context_tokens) return std::nullopt;
  return Finish{Status::partial, Reason::context_exhausted,
                fmt::format("its conversation comes to about {} tokens; its limit is {}", tokens,
                            *limits.max_context_tokens)};
}

}  // namespace

Next decide(const Conversation& conversation, const RunLimits& limits, StopReason stop, MailState mail) {
  if (suspends(stop)) return Suspend{};
  if (auto finish = after_cancel(stop)) return *std::move(finish);
  if (conversation.grace) return in_grace(conversation, limits, stop, mail);
  const bool has_reported = conversation.completion && conversation.pending.empty();
  if (has_reported && (mail == MailState::none || stop != StopReason::none))
    return after_completion(conversation);
  if (stop == StopReason::deadline) return at_limit(Reason::timeout, limits);
  if (stop == StopReason::stalled) return at_limit(Reason::stalled, limits);
  if (conversation.task != RunTask::reply) return for_history(conversation, limits);
  if (!conversation.pending.empty()) return RunCalls{};
  const auto& reply = conversation.last_reply;
  const bool has_said_all =
      has_reported || (reply && reply->stop == ReplyStop::finished && !conversation.has_news);
  if (can_make_room(conversation, limits)) return Compact{};
  if (reply && (!has_said_all || mail == MailState::none)) {
    if (auto next = after_reply(conversation, limits)) return *std::move(next);
    if (auto next = after_refused_report(conversation, limits)) return *std::move(next);
    if (auto next = going_in_circles(conversation, limits)) return *std::move(next);
  }
  if (auto next = at_own_limit(conversation, limits))
    return has_reported ? Next(after_completion(conversation)) : *std::move(next);
  const bool is_paused = reply && reply->stop == ReplyStop::paused;
  if (mail == MailState::here && !is_paused) return TakeMail{};
  if (has_said_all) return AwaitMail{};
  return !is_paused && is_compaction_due(conversation, limits) ? Next(Compact{}) : Next(AskModel{});
}

}  // namespace deputy
