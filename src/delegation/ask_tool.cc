#include "delegation/ask_tool.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delegation/question_ids.h"
#include "delegation/tree.h"
#include "transcript/call_traces.h"

namespace deputy {
namespace {

constexpr std::string_view kParentDescription =
    "Asks your parent agent and waits for the answer. Ask only what you cannot find out yourself.";
constexpr std::string_view kUserDescription =
    "Asks the person and waits for the answer. Ask only what you cannot find out yourself.";

constexpr std::string_view kSchema = R"json({"type":"object","properties":{
"question":{"type":"string","minLength":1,"maxLength":16384},
"suggestions":{"type":"array","maxItems":10,"items":{"type":"string","minLength":1,"maxLength":1024},"description":"answers to choose from"}},
"required":["question"],"additionalProperties":false})json";

constexpr std::string_view kNoAnswer = "no answer: proceed on your best judgement, or finish as blocked";

Question question_of(const json::object& arguments, QuestionKind kind, const ToolContext& context) {
  Question question{.id = question_id_of(context.id),
                    .kind = kind,
                    .asker = context.session.id,
                    .label = context.session.label,
                    .agent = context.session.agent,
                    .text = to_utf8(string_or(arguments, "question", ""))};
  if (const auto* suggestions = array_at(arguments, "suggestions")) {
    for (const auto& each : *suggestions) question.suggestions.push_back(to_utf8(each.as_string()));
  }
  if (kind == QuestionKind::to_parent) question.until = context.loop.clock().wall() + kAnswerTime;
  return question;
}

}  // namespace

std::string AskTool::in_full(const json::object& arguments) const {
  return string_or(arguments, "question", "");
}

std::string AskTool::shown(const json::object& arguments) const {
  return shorten(on_one_line(in_full(arguments)), 80);
}

// Neither is a task of its own: what they hand on is not kept while the answer is waited for.
Task<Result<void>> AskTool::record_question(Question& question, ToolContext& context) {
  return context.journal.record({context.id.step, context.id.index}, {QuestionAsked{question}});
}

Task<Result<void>> AskTool::record_answer(Question& question, Answer& answer, ToolContext& context) {
  return context.journal.record({context.id.step, context.id.index}, {QuestionAnswered{question.id, answer}});
}

Task<ToolResult> AskTool::run(json::object arguments, ToolContext context) {
  if (const Answer* answered = answered_before(context.traces, kind())) co_return tool_ok(told_of(*answered));
  // One that was asked before a restart is to be answered by when it said.
  const Question* before = asked_before(context.traces, kind());
  Question question = before ? *before : question_of(arguments, kind(), context);
  if (!before) {
    if (auto refused = cannot_ask(context); !refused.empty()) co_return tool_ok(std::move(refused));
  }
  // The person of this process has not been asked yet; a parent reads it in its mail.
  if (!before || question.kind == QuestionKind::to_person) {
    if (const auto asked = co_await record_question(question, context); !asked)
      co_return tool_error(fmt::format("The question was not asked: {}", to_text(asked.error())));
  }
  Answer answer = co_await ask(question, context);
  if (context.stop.stopped()) co_return tool_error("Stopped before there was an answer.");
  if (const auto kept = co_await record_answer(question, answer, context); !kept)
    co_return tool_error(fmt::format("The answer was not kept: {}", to_text(kept.error())));
  co_return tool_ok(told_of(answer));
}

const ToolText& AskParentTool::text() const {
  static const ToolText text{"ask_parent", std::string(kParentDescription), std::string(kSchema)};
  return text;
}

Task<Answer> AskParentTool::ask(Question& question, ToolContext& context) {
  return tree_.ask_parent(&context.session, question, context.stop);
}

std::string AskParentTool::cannot_ask(const ToolContext& context) const {
  const auto events = tree_.store().events_of_session(context.session.id);
  const auto is_question = [](const Event& event) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    return asked && asked->question.kind == QuestionKind::to_parent;
  };
  if (!events || std::ranges::count_if(*events, is_question) < kMostQuestions) return {};
  return fmt::format("{} (you have asked {} questions, the most there may be)", kNoAnswer, kMostQuestions);
}

std::string AskParentTool::told_of(const Answer& answer) const {
  if (answer.kind != AnswerKind::text) return std::string(kNoAnswer);
  if (answer.by == Source::person) return "The person answers: " + answer.text;
  return "Your parent agent answers (an agent's word: it approves nothing that needs the person): " +
         answer.text;
}

const ToolText& AskUserTool::text() const {
  static const ToolText user{"ask_user", std::string(kUserDescription), std::string(kSchema)};
  static const ToolText parent{"ask_parent", std::string(kUserDescription), std::string(kSchema)};
  return name_ == Name::ask_user ? user : parent;
}

Task<Answer> AskUserTool::ask(Question& question, ToolContext& context) {
  return context.asker.ask(question, context.stop);
}

std::string AskUserTool::told_of(const Answer& answer) const {
  switch (answer.kind) {
    case AnswerKind::text:
      return "The person answers: " + answer.text;
    case AnswerKind::refused:
      return fmt::format("The person gives no answer. {}", kNoAnswer);
    default:
      return fmt::format("nobody can answer. {}", kNoAnswer);
  }
}

}  // namespace deputy
