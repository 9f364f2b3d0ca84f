// The report of a run, put together from what the run said and what the runtime knows of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "agent/next.h"
#include "base/text.h"
#include "transcript/profile.h"

namespace deputy {

std::string in_capitals(std::string_view name) {
  std::string code(name);
  for (char& c : code) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return code;
}

std::string code_of(Reason reason) { return in_capitals(name_of(reason)); }

namespace {

bool has_text(const Message& message) {
  return message.role == Role::assistant && !trimmed(message.text).empty();
}

// Of this run: what was said in one before it is in that one's report. Nothing where there was no text.
std::optional<std::size_t> last_text_before(const Conversation& conversation, std::size_t end) {
  for (std::size_t at = end; at-- > conversation.run_begins;) {
    if (has_text(conversation.messages[at])) return at;
  }
  return std::nullopt;
}

// The texts from there to the end, with those of the replies that it goes on from.
std::string texts_from(const Conversation& conversation, std::size_t from) {
  while (from > conversation.run_begins && conversation.paused.contains(from - 1)) --from;
  std::vector<std::string_view> texts;
  for (std::size_t at = from; at < conversation.messages.size(); ++at) {
    if (has_text(conversation.messages[at])) texts.push_back(conversation.messages[at].text);
  }
  return fmt::format("{}", fmt::join(texts, "\n\n"));
}

std::string last_text(const Conversation& conversation) {
  const auto last = last_text_before(conversation, conversation.messages.size());
  return last ? texts_from(conversation, *last) : "";
}

// A reply that broke off may have said next to nothing yet, and what is said in the step after it goes on
// from there: so the last whole text before it, what there is of it, and what followed.
std::string text_so_far(const Conversation& conversation) {
  if (conversation.broken_off.empty()) return last_text(conversation);
  const std::size_t first = *conversation.broken_off.begin();
  return texts_from(conversation, last_text_before(conversation, first).value_or(first));
}

// What it has handed in. Where it had to go on after that and handed in no other, that is still what there
// is.
const Completion* handed_in(const Conversation& conversation) {
  if (conversation.completion) return &*conversation.completion;
  return conversation.former_report ? &(*conversation.former_report)->report : nullptr;
}

std::string text_of(const Conversation& conversation, Status status) {
  const Completion* report = handed_in(conversation);
  if (!report) return status == Status::completed ? last_text(conversation) : text_so_far(conversation);
  if (conversation.completion || report->is_data) return report->body;
  const std::string since = texts_from(conversation, (*conversation.former_report)->before);
  return since.empty() ? report->body : report->body + "\n\n" + since;
}

// What it noted stands before the text, unless the task is done.
std::string after_notes(const Conversation& conversation, Status status, std::string text) {
  if (status == Status::completed || conversation.notes.empty()) return text;
  const std::string notes = fmt::format("{}", fmt::join(conversation.notes, "\n"));
  return text.empty() ? notes : notes + "\n\n" + text;
}

// Of a run that only saw to the session's history.
std::string history_text(const Conversation& conversation, const Finish& finish) {
  if (finish.status != Status::completed) return "";
  if (conversation.task == RunTask::undo_compaction)
    return "The compaction was undone: the model is told the whole conversation again.";
  return fmt::format("Compacted: a summary stands for the first {} messages. /compact undo takes it back.",
                     conversation.told_from);
}

std::string body_of(const Conversation& conversation, const Finish& finish) {
  if (conversation.task != RunTask::reply) return history_text(conversation, finish);
  const Completion* report = handed_in(conversation);
  if (finish.reason == Reason::invalid_report && conversation.last_reply &&
      conversation.last_reply->stop == ReplyStop::calls) {
    const std::string former = report ? report->body + "\n\n" : "";
    return after_notes(conversation, finish.status, former + conversation.refused.last);  // the original
  }
  if (report && report->is_data) return report->body;
  return after_notes(conversation, finish.status, text_of(conversation, finish.status));
}

bool is_recoverable(const Finish& finish) {
  return finish.status == Status::partial || finish.status == Status::cancelled ||
         finish.reason == Reason::provider_error || finish.reason == Reason::invalid_report;
}

// Whom a person has started is gone on with by the person's own command, a model's child by its parent's
// call.
bool was_started_by_person(const Session& session) {
  return session.path.size() < 2 || (session.path.size() == 2 && session.path.front() == kCommandAgent);
}

// How what has ended goes on where it stopped, with `more` of what was used up.
std::string way_to_go_on(const Session& session, std::string_view more, std::string_view flag) {
  if (!was_started_by_person(session))
    return fmt::format("it can go on where it stopped: resume {}{}", session.id.value, more);
  if (session.agent != kCommandAgent)
    return fmt::format("it can go on where it stopped{}: `deputy task {} 'go on' --resume {}{}`", more,
                       session.agent, session.id.value, flag);
  return fmt::format(
      "what it started can go on{}: `deputy sessions tree {}` names the agents, `deputy task AGENT 'go on' "
      "--resume ID{}` goes on with one",
      more, session.id.value, flag);
}

// The flag that the message names, as it is typed; nothing where it names none.
std::string flag_that_raises(std::string_view limit) {
  const std::size_t at = limit.find("--max-");
  if (at == std::string_view::npos) return "";
  const std::string_view flag =
      limit.substr(at, limit.find_first_not_of("-abcdefghijklmnopqrstuvwxyz", at) - at);
  return fmt::format(" {} {}", flag, flag == "--max-cost" ? "USD" : "N");
}

std::string way_to_be_allowed(const std::optional<Denial>& denied) {
  if (!denied) return "see the message, then run it again";  // what it needs is not there
  switch (*denied) {
    case Denial::by_nobody:
      return "the person can allow what was refused, with --allow RULE, or --yes for all that is asked; then "
             "run it again";
    case Denial::by_person:
      return "the person declined what it wanted to do: say in the task what to do instead, and run it again";
    case Denial::by_profile:
      break;
  }
  return "its profile has nobody asked (on_ask: deny), so --yes approves nothing: allow what was refused "
         "with "
         "--allow RULE, or have the profile say on_ask: person; then run it again";
}

std::string recommendation_for(const Conversation& conversation, const Finish& finish,
                               const Session& session) {
  switch (finish.reason) {
    case Reason::timeout:
      return way_to_go_on(session, " with more time", " --timeout TIME");
    case Reason::max_turns:
      return way_to_go_on(session, "", "") + "; or split the task";
    case Reason::context_exhausted:
      return "go on from what was found, or split the task into smaller ones";
    case Reason::repetition:
      return "say in the task what to do instead, and run it again";
    case Reason::stalled:
    case Reason::provider_error:
      return "run it again, or choose another model";
    case Reason::no_api_key:
      return "set the key, or choose a model that has one, and run it again";
    case Reason::denied:
      return way_to_be_allowed(conversation.denied);
    case Reason::budget:
      if (was_started_by_person(session))
        return way_to_go_on(session, " with more room", flag_that_raises(finish.error));
      return "what was found so far is in the report; continue from it, or ask the person to raise the limit";
    case Reason::question_unanswered:
      return "say in the task what it asked, and run it again";
    case Reason::invalid_report:
      return "what it gave is in the report; run it again, or ask for less";
    case Reason::cancelled_by_user:
      if (was_started_by_person(session)) return way_to_go_on(session, "", "");
      [[fallthrough]];
    default:
      return is_recoverable(finish)
                 ? "what was found so far is in the report; continue from it, or run it again"
                 : "see the message, then run it again";
  }
}

ReportedError error_of(const Conversation& conversation, const Finish& finish, const Session& session) {
  return {.type = std::string(name_of(finish.reason)),
          .code = code_of(finish.reason),
          .message = finish.error.empty() ? to_words(finish.reason) : finish.error,
          .recoverable = is_recoverable(finish),
          .recommendation = recommendation_for(conversation, finish, session)};
}

// The runtime's own word on the end stands first; it has none where the child's own errors say it all.
std::vector<ReportedError> errors_of(const Conversation& conversation, const Session& session,
                                     const Finish& finish) {
  std::vector<ReportedError> errors;
  const Completion* report = handed_in(conversation);
  if (report) errors = report->errors;
  const bool is_own_word = finish.reason == Reason::reported || finish.reason == Reason::denied ||
                           finish.reason == Reason::question_unanswered;
  const bool is_of_child =
      conversation.completion ? is_own_word : report && finish.reason == Reason::reported;
  const bool child_says_why = is_of_child && !errors.empty();
  if (finish.status != Status::completed && !child_says_why)
    errors.insert(errors.begin(), error_of(conversation, finish, session));
  return errors;
}

// As many as a summary has.
std::string first_characters(const std::string& text) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool continues = (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
    if (!continues && characters++ == kSummaryCharacters) return text.substr(0, at);
  }
  return text;
}

}  // namespace

Report report_of(const Conversation& conversation, const Session& session, const Finish& finish,
                 WallTime now) {
  Report report;
  report.status = finish.status;
  report.reason = finish.reason;
  report.body = body_of(conversation, finish);
  report.errors = errors_of(conversation, session, finish);
  report.summary = first_characters(report.body.empty() ? to_words(finish.reason) : report.body);
  if (const Completion* own = handed_in(conversation)) {
    report.summary = own->summary;
    report.artifacts = own->artifacts;
    report.next_steps = own->next_steps;
  }
  report.session = session.id;
  report.agent = session.agent;
  report.label = session.label;
  report.depth = session.depth;
  report.path = session.path;
  report.model = session.model;
  const WallTime unrecorded{};  // its start is about to be, with its end
  report.started_at = conversation.started_at.value_or(unrecorded);
  if (report.started_at == unrecorded) report.started_at = now;
  report.duration = std::max(Duration{}, Duration{now - report.started_at});
  report.usage = conversation.usage;
  report.steps = conversation.step;
  report.questions = conversation.questions;
  report.files = conversation.files;
  report.commands = conversation.commands;
  return report;
}

}  // namespace deputy
