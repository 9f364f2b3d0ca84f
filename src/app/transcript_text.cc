#include "app/transcript_text.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "transcript/codec.h"

namespace deputy {
namespace {

// S0's words for how it went.
std::string_view outcome_of(const Session& session) {
  switch (session.state) {
    case SessionState::completed:
      return "success";
    case SessionState::partial:
      return session.reason == Reason::context_exhausted ? "context_exhausted" : "partial";
    case SessionState::failed:
      return "error";
    case SessionState::blocked:
    case SessionState::cancelled:
    case SessionState::interrupted:
      return name_of(session.state);
    default:
      return "in_progress";
  }
}

std::string visible(std::string_view text) {
  std::string shown = made_visible(to_utf8(text));
  if (!shown.empty() && !shown.ends_with('\n')) shown += '\n';
  return shown;
}

std::string heading_of(const Message& message, std::map<std::string, std::string>& tools) {
  if (message.role == Role::user) return std::string(name_of(message.source));
  if (message.role == Role::assistant) {
    for (const auto& call : message.calls) tools[call.id] = call.name;
    return "agent";
  }
  const ToolResult& result = message.results.front();
  return fmt::format("result of {}{}", tools[result.call_id],
                     result.status == ToolStatus::error ? ", an error" : "");
}

}  // namespace

std::vector<Message> messages_of(const std::vector<Event>& events) {
  std::vector<Message> messages;
  for (const auto& event : events) {
    if (const auto* input = std::get_if<InputGiven>(&event.fact)) {
      messages.push_back({.role = Role::user, .source = input->source, .text = input->text});
    } else if (const auto* delivered = std::get_if<Delivered>(&event.fact)) {
      messages.push_back({.role = Role::user, .source = delivered->source, .text = delivered->text});
    } else if (const auto* reply = std::get_if<ReplyReceived>(&event.fact)) {
      messages.push_back(reply->reply.message);
    } else if (const auto* stopped = std::get_if<RequestStopped>(&event.fact);
               stopped && !stopped->text.empty()) {
      messages.push_back({.role = Role::assistant, .text = stopped->text});
    } else if (const auto* compacted = std::get_if<Compacted>(&event.fact)) {
      if (const auto summary = summary_in(compacted->reply)) messages.push_back(summary_message(*summary));
    } else if (const auto* finished = std::get_if<CallFinished>(&event.fact)) {
      messages.push_back({.role = Role::tool, .results = {finished->result}});
    }
  }
  return messages;
}

std::string heard_of(const std::vector<Event>& events) {
  std::string heard;
  for (const auto& event : events) {
    if (const auto* piece = std::get_if<ReplyHeard>(&event.fact)) {
      if (piece->is_first) heard.clear();
      heard += piece->text;
    }
    // A run that was suspended has not kept it as a message: it asks for the same again.
    const auto* stopped = std::get_if<RequestStopped>(&event.fact);
    const bool is_over = std::holds_alternative<ReplyReceived>(event.fact) ||
                         (stopped && !stopped->text.empty()) ||
                         std::holds_alternative<RunStarted>(event.fact);
    if (is_over) heard.clear();
  }
  return heard;
}

std::vector<std::string> notes_of(const std::vector<Event>& events) {
  std::vector<std::string> notes;
  for (const auto& event : events) {
    if (const auto* note = std::get_if<NoteTaken>(&event.fact)) notes.push_back(note->content);
  }
  return notes;
}

std::string transcript_text(const Session& session, const std::vector<Event>& events) {
  std::string text =
      fmt::format("{} [{}] {}, {}: {}\n", session.id.value, made_visible(on_one_line(session.label)),
                  session.agent, made_visible(session.model.value), name_of(session.state));
  std::map<std::string, std::string> tools;
  for (const auto& message : messages_of(events)) {
    text += fmt::format("\n--- {}\n", made_visible(heading_of(message, tools)));
    text += visible(message.text);
    for (const auto& call : message.calls) text += visible(fmt::format("> {} {}", call.name, call.arguments));
    for (const auto& result : message.results) text += visible(result.content);
  }
  if (const std::string heard = heard_of(events); !heard.empty())
    text += fmt::format("\n--- agent, as far as it was heard\n{}", visible(heard));
  if (!session.error.empty()) text += fmt::format("\n--- ended\n{}", visible(session.error));
  return text;
}

json::object transcript_json(const Session& session, const std::vector<Event>& events) {
  json::object document{{"label", session.label},
                        {"session_id", session.id.value},
                        {"agent", session.agent},
                        {"model", session.model.value},
                        {"started_at", to_iso8601(session.started_at.value_or(session.created_at))}};
  document["ended_at"] = session.ended_at ? json::value(to_iso8601(*session.ended_at)) : json::value(nullptr);
  document["outcome"] = outcome_of(session);
  document["usage"] = to_json(session.usage);
  auto& messages = document["messages"].emplace_array();
  for (const auto& message : messages_of(events)) {
    for (auto& line : to_transcript_lines(message)) messages.emplace_back(std::move(line));
  }
  if (const std::string heard = heard_of(events); !heard.empty())
    messages.emplace_back(json::object{{"role", "assistant"}, {"content", heard}, {"is_whole", false}});
  return document;
}

}  // namespace deputy
