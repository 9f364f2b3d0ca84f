#include "transcript/event.h"

#include <functional>
#include <map>

#include "base/text.h"
#include "transcript/codec.h"
#include "transcript/names.h"

namespace deputy {

namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

constexpr int kFactVersion = 1;
constexpr std::string_view kBeforeSummary =
    "The conversation so far was compacted. This is the summary of it that you wrote:\n\n";
constexpr std::string_view kBehindSummary = "\n\nGo on from here.";
constexpr EnumNames<RunTask, 3> kRunTasks{{{RunTask::reply, "reply"},
                                           {RunTask::compact, "compact"},
                                           {RunTask::undo_compaction, "undo_compaction"}}};

json::object answer_to_json(const Answer& answer) {
  return {{"kind", name_of(answer.kind)}, {"text", answer.text}, {"by", name_of(answer.by)}};
}

void put_time(json::object& body, std::string_view key, const std::optional<WallTime>& time) {
  if (time) body[key] = time->time_since_epoch().count();
}

std::optional<WallTime> time_in(const json::object& body, std::string_view key) {
  const auto micros = integer_at(body, key);
  if (!micros) return std::nullopt;
  return WallTime{std::chrono::microseconds{*micros}};
}

json::object intent_to_json(const CallStarted& intent) {
  json::object body{{"tool", intent.tool}, {"shown", intent.shown}};
  if (intent.change) body["change"] = to_json(*intent.change);
  return body;
}

json::object input_to_json(const InputGiven& input) {
  json::object body{{"source", name_of(input.source)}, {"text", input.text}};
  if (input.about != Reason::none) body["about"] = name_of(input.about);
  return body;
}

json::object result_to_json(const ToolResult& result) {
  json::object body{{"call_id", result.call_id},
                    {"status", name_in(kToolStatuses, result.status)},
                    {"content", result.content}};
  if (result.exit_status) body["exit_status"] = *result.exit_status;
  return body;
}

json::object body_of(const Fact& fact) {
  return std::visit(
      Overloaded{
          [](const SessionCreated& f) { return json::object{{"session", to_json(f.session)}}; },
          [](const RunStarted& f) {
            json::object body{{"index", f.index}, {"total", f.total}};
            put_time(body, "deadline_us", f.deadline);
            if (!f.model.empty()) body["model"] = f.model.value;
            if (f.max_turns) body["max_turns"] = *f.max_turns;
            if (f.task != RunTask::reply) body["task"] = name_of(f.task);
            if (f.limits) body["limits"] = to_json(*f.limits);
            return body;
          },
          [](const InputGiven& f) { return input_to_json(f); },
          [](const ReplyReceived& f) { return json::object{{"reply", to_json(f.reply)}}; },
          [](const CallStarted& f) { return intent_to_json(f); },
          [](const CallFinished& f) { return result_to_json(f.result); },
          [](const NoteTaken& f) { return json::object{{"content", f.content}}; },
          [](const QuestionAsked& f) { return json::object{{"question", to_json(f.question)}}; },
          [](const QuestionAnswered& f) {
            return json::object{{"question_id", f.question_id}, {"answer", answer_to_json(f.answer)}};
          },
          [](const Retried& f) {
            json::object body{{"reason", f.reason},
                              {"attempt", f.attempt},
                              {"wait_ns", f.wait.count()},
                              {"usage", to_json(f.usage)}};
            if (f.is_last) body["last"] = true;
            return body;
          },
          [](const StateChanged& f) {
            json::object body{{"state", name_of(f.state)}, {"why", f.why}};
            if (!f.waits_for.empty()) body["waits_for"] = f.waits_for;
            put_time(body, "until_us", f.until);
            return body;
          },
          [](const RunEnded& f) { return json::object{{"report", to_json(f.report)}}; },
          [](const FileTouched& f) { return json::object{{"file", to_json(f.file)}}; },
          [](const BudgetReserved& f) {
            return json::object{{"tokens", f.tokens}, {"cost_micros", f.cost_micros}};
          },
          [](const RequestStopped& f) {
            json::object body{{"usage", to_json(f.usage)}};
            if (!f.text.empty()) body["text"] = f.text;
            return body;
          },
          [](const DeadlineMoved& f) {
            return json::object{{"deadline_us", f.deadline.time_since_epoch().count()}};
          },
          [](const Nudged& f) {
            return json::object{{"id", f.id}, {"source", name_of(f.source)}, {"text", f.text}};
          },
          [](const Delivered& f) {
            return json::object{{"item", f.item}, {"source", name_of(f.source)}, {"text", f.text}};
          },
          [](const Detached& f) {
            return json::object{{"child", f.child.value}, {"run", f.run}, {"question_id", f.question_id}};
          },
          [](const Attached& f) { return json::object{{"child", f.child.value}, {"run", f.run}}; },
          [](const ProcessEnded& f) {
            return json::object{{"program", f.program}, {"cpu_ns", f.cpu.count()}, {"memory", f.memory}};
          },
          [](const CommandEnded& f) { return json::object{{"exit_status", f.exit_status}}; },
          [](const Compacted& f) {
            return json::object{{"reply", to_json(f.reply)},
                                {"messages", static_cast<std::int64_t>(f.messages)}};
          },
          [](const ReplyHeard& f) { return json::object{{"first", f.is_first}, {"text", f.text}}; },
          [](const TakenUp& f) {
            return f.limits ? json::object{{"limits", to_json(*f.limits)}} : json::object{};
          },
      },
      fact);
}

Result<const json::object*> member(const json::object& body, std::string_view key) {
  if (const auto* object = object_at(body, key)) return object;
  return fail(ErrorCode::corrupt, "no object '" + std::string(key) + "'");
}

template <class E, std::size_t N>
Result<E> enum_in(const json::object& body, std::string_view key, const EnumNames<E, N>& names) {
  const auto text = string_or(body, key, "");
  if (const auto value = value_in(names, text)) return *value;
  return fail(ErrorCode::corrupt, "unknown " + std::string(key) + " '" + text + "'");
}

Result<Fact> read_created(const json::object& body) {
  TRY(const auto* object, member(body, "session"));
  TRY(auto session, session_from_json(*object));
  return SessionCreated{std::move(session)};
}

std::optional<TreeLimits> limits_in(const json::object& body) {
  const auto* limits = object_at(body, "limits");
  return limits ? std::optional(limits_from_json(*limits)) : std::nullopt;
}

Result<Fact> read_started(const json::object& body) {
  RunStarted started{static_cast<int>(integer_or(body, "index", 0)),
                     static_cast<int>(integer_or(body, "total", 1)), time_in(body, "deadline_us"),
                     ModelName(string_or(body, "model", ""))};
  if (const auto turns = integer_at(body, "max_turns")) started.max_turns = static_cast<int>(*turns);
  if (body.contains("task")) {
    TRY(started.task, enum_in(body, "task", kRunTasks));
  }
  started.limits = limits_in(body);
  return started;
}

Result<Fact> read_input(const json::object& body) {
  TRY(const auto source, enum_in(body, "source", kSources));
  const auto about = value_in(kReasons, string_or(body, "about", "none")).value_or(Reason::none);
  return InputGiven{source, string_or(body, "text", ""), about};
}

Result<Fact> read_reply(const json::object& body) {
  TRY(const auto* object, member(body, "reply"));
  TRY(auto reply, reply_from_json(*object));
  return ReplyReceived{std::move(reply)};
}

Result<Fact> read_intent(const json::object& body) {
  CallStarted intent{string_or(body, "tool", ""), string_or(body, "shown", ""), std::nullopt};
  if (const auto* change = object_at(body, "change")) intent.change = file_change_from_json(*change);
  return intent;
}

Result<Fact> read_result(const json::object& body) {
  TRY(const auto status, enum_in(body, "status", kToolStatuses));
  return CallFinished{{.call_id = string_or(body, "call_id", ""),
                       .status = status,
                       .content = string_or(body, "content", ""),
                       .exit_status = exit_status_at(body)}};
}

Result<Fact> read_note(const json::object& body) { return NoteTaken{string_or(body, "content", "")}; }

Result<Fact> read_question(const json::object& body) {
  TRY(const auto* object, member(body, "question"));
  TRY(auto question, question_from_json(*object));
  return QuestionAsked{std::move(question)};
}

Result<Fact> read_answer(const json::object& body) {
  TRY(const auto* object, member(body, "answer"));
  TRY(const auto kind, enum_in(*object, "kind", kAnswerKinds));
  const auto by = value_in(kSources, string_or(*object, "by", "")).value_or(Source::runtime);
  return QuestionAnswered{string_or(body, "question_id", ""), {kind, string_or(*object, "text", ""), by}};
}

Result<Fact> read_retry(const json::object& body) {
  Retried retried{.reason = string_or(body, "reason", ""),
                  .attempt = static_cast<int>(integer_or(body, "attempt", 1)),
                  .wait = Duration{integer_or(body, "wait_ns", 0)},
                  .is_last = bool_at(body, "last").value_or(false)};
  if (const auto* usage = object_at(body, "usage")) {
    TRY(retried.usage, usage_from_json(*usage));
  }
  return retried;
}

Result<Fact> read_state(const json::object& body) {
  TRY(const auto state, enum_in(body, "state", kSessionStates));
  return StateChanged{state, string_or(body, "why", ""), string_or(body, "waits_for", ""),
                      time_in(body, "until_us")};
}

Result<Fact> read_ended(const json::object& body) {
  TRY(const auto* object, member(body, "report"));
  TRY(auto report, report_from_json(*object));
  return RunEnded{std::move(report)};
}

Result<Fact> read_touched(const json::object& body) {
  TRY(const auto* object, member(body, "file"));
  return FileTouched{file_change_from_json(*object)};
}

Result<Fact> read_reserved(const json::object& body) {
  return BudgetReserved{integer_or(body, "tokens", 0), integer_or(body, "cost_micros", 0)};
}

Result<Fact> read_stopped(const json::object& body) {
  TRY(const auto* object, member(body, "usage"));
  TRY(const auto usage, usage_from_json(*object));
  return RequestStopped{usage, string_or(body, "text", "")};
}

Result<Fact> read_deadline(const json::object& body) {
  return DeadlineMoved{WallTime{std::chrono::microseconds{integer_or(body, "deadline_us", 0)}}};
}

Result<Fact> read_nudge(const json::object& body) {
  TRY(const auto source, enum_in(body, "source", kSources));
  return Nudged{string_or(body, "id", ""), source, string_or(body, "text", "")};
}

Result<Fact> read_delivered(const json::object& body) {
  TRY(const auto source, enum_in(body, "source", kSources));
  return Delivered{string_or(body, "item", ""), source, string_or(body, "text", "")};
}

Result<Fact> read_detached(const json::object& body) {
  return Detached{SessionId(string_or(body, "child", "")), static_cast<int>(integer_or(body, "run", 1)),
                  string_or(body, "question_id", "")};
}

Result<Fact> read_attached(const json::object& body) {
  return Attached{SessionId(string_or(body, "child", "")), static_cast<int>(integer_or(body, "run", 1))};
}

Result<Fact> read_process(const json::object& body) {
  return ProcessEnded{string_or(body, "program", ""), Duration{integer_or(body, "cpu_ns", 0)},
                      integer_or(body, "memory", 0)};
}

Result<Fact> read_command(const json::object& body) {
  return CommandEnded{static_cast<int>(integer_or(body, "exit_status", 0))};
}

Result<Fact> read_compacted(const json::object& body) {
  TRY(const auto* object, member(body, "reply"));
  TRY(auto reply, reply_from_json(*object));
  const auto messages = integer_or(body, "messages", -1);
  if (messages < 0) return fail(ErrorCode::corrupt, "a compaction that does not say of how many messages");
  return Compacted{std::move(reply), static_cast<std::size_t>(messages)};
}

Result<Fact> read_heard(const json::object& body) {
  return ReplyHeard{bool_at(body, "first").value_or(true), string_or(body, "text", "")};
}

Result<Fact> read_taken_up(const json::object& body) { return TakenUp{limits_in(body)}; }

struct FactCodec {
  std::string_view kind;
  Result<Fact> (*read)(const json::object& body);
};

// In the order of the variant's alternatives.
constexpr std::array<FactCodec, std::variant_size_v<Fact>> kFacts{
    {{"started", read_started},   {"created", read_created},     {"input", read_input},
     {"reply", read_reply},       {"intent", read_intent},       {"result", read_result},
     {"note", read_note},         {"question", read_question},   {"answer", read_answer},
     {"retry", read_retry},       {"state", read_state},         {"ended", read_ended},
     {"touched", read_touched},   {"reserved", read_reserved},   {"stopped", read_stopped},
     {"deadline", read_deadline}, {"nudge", read_nudge},         {"delivered", read_delivered},
     {"detached", read_detached}, {"attached", read_attached},   {"process", read_process},
     {"command", read_command},   {"compacted", read_compacted}, {"heard", read_heard},
     {"taken_up", read_taken_up}}};

}  // namespace

std::string_view name_of(RunTask task) { return name_in(kRunTasks, task); }

std::optional<std::string_view> summary_in(const Reply& reply) {
  const std::string_view text = trimmed(reply.message.text);
  if (reply.stop != ReplyStop::finished || text.empty()) return std::nullopt;
  return text;
}

Message wish_for_summary() {
  return {
      .role = Role::user,
      .source = Source::runtime,
      .text =
          "This conversation becomes too long and is compacted: what you write now takes the place of "
          "all that stands above. Write down, as plain text and without calling a tool, what is "
          "needed to go on: what the person asked for, in their words where these matter, and word by word "
          "what they said last; what was decided and why; what was done, with the files, commands and "
          "subagents concerned; what was found, with paths and lines; letter by letter the ids of subagents, "
          "of background commands "
          "and of questions that are open; what is left to do. At most 1000 words."};
}

Message summary_message(std::string_view summary) {
  return {.role = Role::user,
          .source = Source::runtime,
          .text = std::string(kBeforeSummary) + std::string(summary) + std::string(kBehindSummary)};
}

std::optional<std::string_view> summary_told_by(const Message& message) {
  std::string_view text = message.text;
  // The one ends as the other begins: a text may do both and be too short for both.
  if (message.source != Source::runtime || text.size() < kBeforeSummary.size() + kBehindSummary.size() ||
      !text.starts_with(kBeforeSummary) || !text.ends_with(kBehindSummary))
    return std::nullopt;
  text.remove_prefix(kBeforeSummary.size());
  text.remove_suffix(kBehindSummary.size());
  return text;
}

std::string why_no_summary(const Reply& reply) {
  if (!reply.error.empty()) return reply.error;
  if (reply.stop == ReplyStop::calls) return "the model asked for tools where it should have summed up";
  if (reply.stop == ReplyStop::finished) return "the model said nothing";
  return "the summary was cut off: " + std::string(name_of(reply.stop));
}

std::string_view kind_of(const Fact& fact) { return kFacts[fact.index()].kind; }

json::object fact_to_json(const Fact& fact) {
  json::object body = body_of(fact);
  body["v"] = kFactVersion;
  return body;
}

Result<Fact> fact_from_json(std::string_view kind, const json::object& body) {
  if (const auto version = integer_or(body, "v", 0); version != kFactVersion) {
    return fail(version > kFactVersion ? ErrorCode::too_new : ErrorCode::corrupt,
                "a '" + std::string(kind) + "' record of version " + std::to_string(version));
  }
  for (const auto& codec : kFacts) {
    if (codec.kind == kind) return codec.read(body);
  }
  return fail(ErrorCode::corrupt, "unknown kind of record '" + std::string(kind) + "'");
}

}  // namespace deputy
