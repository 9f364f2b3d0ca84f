#include "agent/next.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace deputy {

namespace {

Next after_stop(StopReason stop) {
  if (suspends(stop)) return Suspend{};
  switch (stop) {
    case StopReason::user:
      return Finish{Status::cancelled, Reason::cancelled_by_user, "cancelled by the person"};
    case StopReason::parent:
      return Finish{Status::cancelled, Reason::cancelled_by_parent, "cancelled by its parent"};
    case StopReason::parent_stopped:
      return Finish{Status::cancelled, Reason::parent_stopped, "its parent stopped"};
    case StopReason::deadline:
      return Finish{Status::partial, Reason::timeout, "its time was up"};
    case StopReason::stalled:
      return Finish{Status::partial, Reason::stalled, "the model fell silent"};
    case StopReason::unanswered:
      return Finish{Status::blocked, Reason::question_unanswered, "its parent ended without an answer"};
    case StopReason::none:
    case StopReason::shutdown:
    case StopReason::store_failed:
      break;
  }
  return Suspend{};
}

// Nothing when the conversation goes on.
std::optional<Finish> after_reply(const Reply& reply) {
  switch (reply.stop) {
    case ReplyStop::calls:
    case ReplyStop::paused:
      return std::nullopt;
    case ReplyStop::finished:
      if (trimmed(reply.message.text).empty())
        return Finish{Status::partial, Reason::no_text, "the model said nothing"};
      return Finish{};
    case ReplyStop::output_limit:
      return Finish{Status::partial, Reason::output_limit,
                    "the model's answer was cut off by its output limit"};
    case ReplyStop::context_exhausted:
      return Finish{Status::partial, Reason::context_exhausted, reply.error};
    case ReplyStop::refused:
    case ReplyStop::failed:
      return Finish{Status::failed, Reason::provider_error, reply.error};
    case ReplyStop::over_budget:
      return Finish{Status::partial, Reason::budget, reply.error};
    case ReplyStop::no_key:
      return Finish{Status::failed, Reason::no_api_key, reply.error};
    case ReplyStop::stopped:
      return Finish{Status::failed, Reason::internal, "a model call stopped by itself"};
  }
  return Finish{Status::failed, Reason::internal, "a reply of an unknown kind"};
}

std::string last_text(const Conversation& conversation) {
  for (auto message = conversation.messages.rbegin(); message != conversation.messages.rend(); ++message) {
    if (message->role == Role::assistant && !trimmed(message->text).empty()) return message->text;
  }
  return {};
}

std::string body_of(const Conversation& conversation, Status status) {
  std::string text = last_text(conversation);
  if (status == Status::completed || conversation.notes.empty()) return text;
  const std::string notes = fmt::format("{}", fmt::join(conversation.notes, "\n"));
  return text.empty() ? notes : notes + "\n\n" + text;
}

ReportedError error_of(const Finish& finish) {
  const bool recoverable = finish.status == Status::partial || finish.status == Status::cancelled;
  return {.type = std::string(name_of(finish.reason)),
          .code =
              [&] {
                std::string code(name_of(finish.reason));
                for (char& c : code) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
                return code;
              }(),
          .message = finish.error.empty() ? to_words(finish.reason) : finish.error,
          .recoverable = recoverable,
          .recommendation = recoverable
                                ? "what was found so far is in the report; continue from it, or run it again"
                                : "see the message, then run it again"};
}

}  // namespace

Next decide(const Conversation& conversation, const RunLimits& limits, StopReason stop, MailState mail) {
  if (stop != StopReason::none) return after_stop(stop);
  if (!conversation.pending.empty()) return RunCalls{};
  const auto& reply = conversation.last_reply;
  const bool has_said_all = reply && reply->stop == ReplyStop::finished;
  if (reply && (!has_said_all || mail == MailState::none)) {
    if (auto finish = after_reply(*reply)) return *std::move(finish);
  }
  if (limits.max_turns && conversation.run_steps >= *limits.max_turns) {
    return Finish{Status::partial, Reason::max_turns,
                  fmt::format("it reached its limit of {} steps", *limits.max_turns)};
  }
  const bool is_paused = reply && reply->stop == ReplyStop::paused;
  if (mail == MailState::here && !is_paused) return TakeMail{};
  return has_said_all ? Next(AwaitMail{}) : Next(AskModel{});
}

Report report_of(const Conversation& conversation, const Session& session, const Finish& finish,
                 WallTime now) {
  Report report;
  report.status = finish.status;
  report.reason = finish.reason;
  report.body = body_of(conversation, finish.status);
  if (finish.status != Status::completed) report.errors.push_back(error_of(finish));
  report.summary = shorten(report.body.empty() ? to_words(finish.reason) : report.body, kSummaryCharacters);
  report.session = session.id;
  report.agent = session.agent;
  report.label = session.label;
  report.depth = session.depth;
  report.path = session.path;
  report.model = session.model;
  report.started_at = conversation.started_at.value_or(now);
  report.duration = std::max(Duration{}, Duration{now - report.started_at});
  report.usage = conversation.usage;
  report.steps = conversation.step;
  report.questions = conversation.questions;
  return report;
}

}  // namespace deputy
