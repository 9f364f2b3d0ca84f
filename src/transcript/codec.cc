#include "transcript/codec.h"

#include <algorithm>
#include <utility>

#include "transcript/codec_parts.h"
#include "transcript/names.h"

namespace deputy {

json::object to_json(const Usage& usage) {
  json::object value{{"input", usage.input}, {"output", usage.output}};
  if (usage.cache_read != 0) value["cache_read"] = usage.cache_read;
  if (usage.cache_write != 0) value["cache_write"] = usage.cache_write;
  if (usage.cost_micros) value["cost_micros"] = *usage.cost_micros;
  return value;
}

Result<Usage> usage_from_json(const json::object& value) {
  return Usage{.input = integer_or(value, "input", 0),
               .output = integer_or(value, "output", 0),
               .cache_read = integer_or(value, "cache_read", 0),
               .cache_write = integer_or(value, "cache_write", 0),
               .cost_micros = integer_at(value, "cost_micros")};
}

json::object to_json(const Message& message) {
  json::object value{{"role", name_of(message.role)}};
  if (message.role == Role::user) value["source"] = name_of(message.source);
  if (!message.text.empty()) value["text"] = message.text;
  if (!message.thinking.empty()) value["thinking"] = message.thinking;
  if (!message.wire.empty()) value["wire"] = message.wire;
  if (!message.calls.empty()) {
    auto& calls = value["calls"].emplace_array();
    for (const auto& call : message.calls) {
      calls.emplace_back(json::object{{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
    }
  }
  if (!message.results.empty()) {
    auto& results = value["results"].emplace_array();
    for (const auto& result : message.results) {
      results.emplace_back(json::object{{"call_id", result.call_id},
                                        {"status", name_in(kToolStatuses, result.status)},
                                        {"content", result.content}});
    }
  }
  return value;
}

Result<Message> message_from_json(const json::object& value) {
  Message message;
  TRY(message.role, enum_at(value, "role", kRoles, Role::user));
  TRY(message.source, enum_at(value, "source", kSources, Source::person));
  message.text = string_or(value, "text", "");
  message.thinking = string_or(value, "thinking", "");
  message.wire = string_or(value, "wire", "");
  if (const auto* calls = array_at(value, "calls")) {
    for (const auto& each : *calls) {
      TRY(const auto* call, as_object(each, "a call"));
      message.calls.push_back(
          {string_or(*call, "id", ""), string_or(*call, "name", ""), string_or(*call, "arguments", "")});
    }
  }
  if (const auto* results = array_at(value, "results")) {
    for (const auto& each : *results) {
      TRY(const auto* result, as_object(each, "a result"));
      TRY(const auto status, enum_at(*result, "status", kToolStatuses, ToolStatus::ok));
      message.results.push_back(
          {string_or(*result, "call_id", ""), status, string_or(*result, "content", "")});
    }
  }
  return message;
}

json::object to_json(const Reply& reply) {
  json::object value{{"stop", name_of(reply.stop)},
                     {"model", reply.model.value},
                     {"message", to_json(reply.message)},
                     {"usage", to_json(reply.usage)}};
  if (!reply.error.empty()) value["error"] = reply.error;
  return value;
}

Result<Reply> reply_from_json(const json::object& value) {
  Reply reply;
  TRY(reply.stop, enum_at(value, "stop", kReplyStops, ReplyStop::finished));
  reply.model = ModelName(string_or(value, "model", ""));
  const auto* message = object_at(value, "message");
  if (!message) return fail(ErrorCode::corrupt, "a reply without a message");
  TRY(reply.message, message_from_json(*message));
  if (const auto* usage = object_at(value, "usage")) {
    TRY(reply.usage, usage_from_json(*usage));
  }
  reply.error = string_or(value, "error", "");
  return reply;
}

json::object to_json(const Question& question) {
  json::object value{{"id", question.id},
                     {"kind", name_of(question.kind)},
                     {"asker", question.asker.value},
                     {"label", question.label},
                     {"agent", question.agent},
                     {"text", question.text},
                     {"suggestions", strings(question.suggestions)}};
  if (question.until) value["until_us"] = micros(*question.until);
  return value;
}

json::object to_json(const Wait& wait) {
  json::object value{{"owner", wait.owner}, {"why", wait.why}, {"since_us", micros(wait.since)}};
  if (wait.until) value["until_us"] = micros(*wait.until);
  if (!wait.question.empty()) value["question"] = wait.question;
  return value;
}

Wait wait_from_json(const json::object& value) {
  Wait wait{.owner = string_or(value, "owner", ""),
            .why = string_or(value, "why", ""),
            .since = wall_at(value, "since_us"),
            .question = string_or(value, "question", "")};
  if (integer_at(value, "until_us")) wait.until = wall_at(value, "until_us");
  return wait;
}

Result<Question> question_from_json(const json::object& value) {
  Question question;
  question.id = string_or(value, "id", "");
  TRY(question.kind, enum_at(value, "kind", kQuestionKinds, QuestionKind::permission));
  question.asker = SessionId(string_or(value, "asker", ""));
  question.label = string_or(value, "label", "");
  question.agent = string_or(value, "agent", "");
  question.text = string_or(value, "text", "");
  question.suggestions = strings_at(value, "suggestions");
  if (integer_at(value, "until_us")) question.until = wall_at(value, "until_us");
  return question;
}

json::object to_json(const TreeLimits& limits) {
  json::object value;
  const auto put = [&value]<class T>(std::string_view key, T limit) {
    if (limit == kUnlimited<T>) {
      value[key] = "none";
    } else {
      value[key] = limit;
    }
  };
  put("depth", limits.depth);
  put("delegations", limits.delegations);
  put("live_children", limits.live_children);
  put("live_sessions", limits.live_sessions);
  put("steps", limits.steps);
  put("tokens", limits.tokens);
  put("cost_micros", limits.cost_micros);
  put("time_ns", limits.time.count());
  return value;
}

// A bundle may say anything: what is out of bounds is the nearest that is not. A person gives a year at most,
// and one more whenever the tree goes on.
TreeLimits limits_from_json(const json::object& value) {
  constexpr Duration kLongest = std::chrono::hours(24 * 365 * 10);
  TreeLimits limits;
  const auto take = [&value]<class T>(std::string_view key, T& limit, T most = kUnlimited<T>) {
    if (string_or(value, key, "") == "none") limit = kUnlimited<T>;
    if (const auto number = integer_at(value, key))
      limit = static_cast<T>(std::clamp<std::int64_t>(*number, 0, most));
  };
  take("depth", limits.depth);
  take("delegations", limits.delegations);
  take("live_children", limits.live_children);
  take("live_sessions", limits.live_sessions);
  take("steps", limits.steps);
  take("tokens", limits.tokens);
  take("cost_micros", limits.cost_micros);
  Duration::rep time = limits.time.count();
  take("time_ns", time, kLongest.count());
  limits.time = Duration{time};
  return limits;
}

json::object to_json(const Session& session) {
  json::object value{{"id", session.id.value},
                     {"uuid", session.uuid.value},
                     {"tree", session.tree.value},
                     {"label", session.label},
                     {"agent", session.agent},
                     {"depth", session.depth},
                     {"path", strings(session.path)},
                     {"model", session.model.value},
                     {"workspace", session.workspace},
                     {"workspace_mode", name_of(session.workspace_mode)},
                     {"network", session.network},
                     {"permissions", session.permissions},
                     {"max_output_tokens", session.max_output_tokens},
                     {"prompt", session.prompt}};
  if (session.parent) value["parent"] = session.parent->value;
  if (const auto& key = session.delegation) {
    value["delegation"] = json::object{{"session", key->call.run.session.value},
                                       {"run", key->call.run.number},
                                       {"step", key->call.step},
                                       {"index", key->call.index},
                                       {"task", key->task}};
  }
  if (session.sandbox_level) value["sandbox_level"] = *session.sandbox_level;
  if (session.max_turns) value["max_turns"] = *session.max_turns;
  if (session.kind) value["kind"] = name_of(*session.kind);
  if (session.timeout) value["timeout_ns"] = session.timeout->count();
  if (session.deadline) value["deadline_us"] = micros(*session.deadline);
  if (session.limits) value["limits"] = to_json(*session.limits);
  return value;
}

Result<Session> session_from_json(const json::object& value) {
  Session session;
  session.id = SessionId(string_or(value, "id", ""));
  if (session.id.empty()) return fail(ErrorCode::corrupt, "a session without an id");
  session.uuid = Uuid(string_or(value, "uuid", ""));
  session.tree = SessionId(string_or(value, "tree", ""));
  session.label = string_or(value, "label", "");
  session.agent = string_or(value, "agent", "");
  session.depth = static_cast<int>(integer_or(value, "depth", 0));
  session.path = strings_at(value, "path");
  session.model = ModelName(string_or(value, "model", ""));
  session.workspace = string_or(value, "workspace", "");
  session.workspace_mode =
      value_in(kWorkspaceModes, string_or(value, "workspace_mode", ""))
          .value_or(WorkspaceMode::read_only);  // who has no word for it may write nothing
  session.network = bool_at(value, "network").value_or(false);
  if (const auto level = integer_at(value, "sandbox_level")) session.sandbox_level = static_cast<int>(*level);
  session.permissions = string_or(value, "permissions", "");
  session.max_output_tokens =
      static_cast<int>(integer_or(value, "max_output_tokens", session.max_output_tokens));
  session.prompt = string_or(value, "prompt", "");
  if (auto parent = string_at(value, "parent")) session.parent = SessionId(*std::move(parent));
  if (const auto* key = object_at(value, "delegation")) {
    session.delegation = DelegationKey{.call = {.run = {SessionId(string_or(*key, "session", "")),
                                                        static_cast<int>(integer_or(*key, "run", 1))},
                                                .step = static_cast<int>(integer_or(*key, "step", 0)),
                                                .index = static_cast<int>(integer_or(*key, "index", 0))},
                                       .task = static_cast<int>(integer_or(*key, "task", 0))};
  }
  if (const auto turns = integer_at(value, "max_turns")) session.max_turns = static_cast<int>(*turns);
  session.kind = value_in(kWorkKinds, string_or(value, "kind", ""));
  if (const auto timeout = integer_at(value, "timeout_ns")) session.timeout = Duration{*timeout};
  if (integer_at(value, "deadline_us")) session.deadline = wall_at(value, "deadline_us");
  if (const auto* limits = object_at(value, "limits")) session.limits = limits_from_json(*limits);
  return session;
}

std::vector<json::object> to_transcript_lines(const Message& message) {
  std::vector<json::object> lines;
  if (message.role == Role::tool) {
    for (const auto& result : message.results) {
      lines.push_back({{"role", "tool"}, {"tool_call_id", result.call_id}, {"content", result.content}});
      if (result.status == ToolStatus::error) lines.back()["is_error"] = true;
    }
    return lines;
  }
  json::object line{{"role", name_of(message.role)}, {"content", message.text}};
  if (message.role == Role::user && message.source != Source::person)
    line["source"] = name_of(message.source);
  if (!message.calls.empty()) {
    auto& calls = line["tool_calls"].emplace_array();
    for (const auto& call : message.calls) {
      calls.emplace_back(json::object{{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
    }
  }
  lines.push_back(std::move(line));
  return lines;
}

}  // namespace deputy
