#include "delegation/spawn_tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "async/apart.h"
#include "base/text.h"
#include "delegation/approval.h"
#include "delegation/child_calls.h"
#include "delegation/question_ids.h"
#include "delegation/task_tool.h"

namespace deputy {
namespace {

constexpr std::string_view kSpawnDescription =
    "Hand one task to a subagent that may ask you questions. The call ends with its report, or with a "
    "question "
    "(state: question): answer that with answer_subagent. Agents:\n";

constexpr std::string_view kSpawnSchema = R"json({"type":"object","properties":{
"agent":{"type":"string","minLength":1},
"task":{"type":"string","minLength":1},
"context":{"type":"string","description":"what it needs to know, put before the task"},
"timeout":{"anyOf":[{"type":"integer","minimum":1},{"type":"string","enum":["none"]}],"description":"seconds, or none"}},
"required":["agent","task"],"additionalProperties":false})json";

constexpr std::string_view kAnswerDescription =
    "Answers a subagent's question and waits, as spawn_subagent does, for its report or its next question.";

constexpr std::string_view kAnswerSchema = R"json({"type":"object","properties":{
"question_id":{"type":"string","minLength":1},
"answer":{"type":"string","minLength":1}},
"required":["question_id","answer"],"additionalProperties":false})json";

constexpr std::size_t kGoalCharacters = 60;

std::string prompt_of(const json::object& arguments) {
  const std::string context = string_or(arguments, "context", "");
  const std::string task = string_or(arguments, "task", "");
  return trimmed(context).empty() ? task : context + "\n\n" + task;
}

Delegation delegation_of(const json::object& arguments, const std::vector<std::string>& declared,
                         const ToolContext& context) {
  const std::string agent = declared_name(string_or(arguments, "agent", ""), declared);
  return {.key = {context.id, 0},
          .parent = context.session,
          .model = context.model,
          .agent = agent,
          .brief = {.label = agent, .prompt = prompt_of(arguments)},
          .timeout = timeout_in(arguments)};
}

// The answer that the journal has for a question, and whether it knows the question at all.
struct Settled {
  bool was_asked = false;
  std::optional<Answer> answer;
};
Settled settled(const std::vector<Event>& events, const std::string& question_id) {
  Settled found;
  for (const Event& event : events) {
    // What was answered before is its permission to ask.
    if (const auto* asked = std::get_if<QuestionAsked>(&event.fact);
        asked && asked->question.id == question_id && asked->question.kind == QuestionKind::to_parent)
      found = {.was_asked = true};
    if (const auto* answered = std::get_if<QuestionAnswered>(&event.fact);
        answered && answered->question_id == question_id)
      found.answer = answered->answer;
  }
  return found;
}

bool has_begun(const ToolContext& context) {
  return std::ranges::any_of(context.traces,
                             [](const Fact& fact) { return std::holds_alternative<Attached>(fact); });
}

}  // namespace

std::string_view SpawnTool::schema() { return kSpawnSchema; }

SpawnTool::SpawnTool(Tree& tree, const std::vector<const Profile*>& declared)
    : tree_(tree),
      text_{"spawn_subagent", std::string(kSpawnDescription) + list_of(declared), std::string(kSpawnSchema)} {
  for (const auto* profile : declared) declared_.push_back(profile->name);
}

std::size_t SpawnTool::most_result_bytes() const { return tree_.reports().most_of_one(); }

std::string SpawnTool::shown(const json::object& arguments) const {
  return fmt::format("[{}] {}", on_one_line(string_or(arguments, "agent", "")),
                     shorten(on_one_line(string_or(arguments, "task", "")), kGoalCharacters));
}

std::string SpawnTool::approval_text(const json::object& arguments, const ToolContext& context) const {
  const Delegation delegation = delegation_of(arguments, declared_, context);
  const std::vector<ToldChild> told{{.name = delegation.agent,
                                     .prompt = delegation.brief.prompt,
                                     .given = without(arguments, {"agent", "task", "context"})}};
  return fmt::format("Spawn 1 subagent: {} -- {}{}", goals_text(told, kGoalCharacters),
                     terms_text({tree_.planned(delegation)}, tree_.models(), tree_.budget()),
                     briefs_text(told, kGoalCharacters));
}

bool SpawnTool::is_offered(const std::string& agent, const ToolContext& context) const {
  return std::ranges::find(declared_, agent) != declared_.end() || tree_.has_child({context.id, 0});
}

Task<std::optional<ToolResult>> SpawnTool::refusal(json::object arguments, ToolContext context) {
  const Delegation delegation = delegation_of(arguments, declared_, context);
  if (!is_offered(delegation.agent, context)) co_return not_declared(tree_, delegation.agent, declared_);
  co_return co_await refusal_beforehand(tree_, delegation);
}

Task<ToolResult> SpawnTool::run(json::object arguments, ToolContext context) {
  const Delegation delegation = delegation_of(arguments, declared_, context);
  if (!is_offered(delegation.agent, context)) co_return not_declared(tree_, delegation.agent, declared_);
  const auto child = co_await apart([&] { return tree_.start_child(delegation, context.stop); });
  if (!child) co_return co_await apart([&] { return refusal_result(tree_, delegation, child.error()); });
  co_return co_await await_child(tree_, &delegation, *child, context, Telling::dialogue);
}

std::string_view AnswerTool::schema() { return kAnswerSchema; }

const ToolText& AnswerTool::text() const {
  static const ToolText text{"answer_subagent", std::string(kAnswerDescription), std::string(kAnswerSchema)};
  return text;
}

std::size_t AnswerTool::most_result_bytes() const { return tree_.reports().most_of_one(); }

std::string AnswerTool::in_full(const json::object& arguments) const {
  return string_or(arguments, "answer", "");
}

std::string AnswerTool::shown(const json::object& arguments) const {
  return shorten(on_one_line(in_full(arguments)), kGoalCharacters);
}

Task<ToolResult> AnswerTool::run(json::object arguments, ToolContext context) {
  const std::string id = string_or(arguments, "question_id", "");
  const SessionId asker = asker_of(id);
  const auto child = tree_.store().session(asker);
  const auto events = tree_.store().events_of_session(asker);
  const bool is_mine = child && *child && (*child)->parent == context.session.id;
  const Settled before = is_mine && events ? settled(*events, id) : Settled{};
  if (!before.was_asked)
    co_return tool_error(fmt::format("No subagent of yours asks {}. Give the question_id of its question.",
                                     shorten(on_one_line(id), 80)));
  const Delegation delegation{.key = {context.id, 0},
                              .parent = context.session,
                              .model = context.model,
                              .agent = (*child)->agent,
                              .brief = {.label = (*child)->label}};
  const bool has_ended = is_terminal((*child)->state);
  if (!has_ended) tree_.take_up_child(**child, Children::Where::awaited, context.stop);
  // What this very call was told before a restart is not told again.
  const bool is_given = before.answer && has_begun(context);
  if (!has_ended && !is_given && before.answer) {
    co_return tool_error(
        before.answer->kind == AnswerKind::text
            ? fmt::format("It has its answer already: {}. Its report comes to you by itself.",
                          shorten(on_one_line(before.answer->text), 400))
            : std::string("Too late: it went on without an answer. Its report comes to you by itself."));
  }
  if (!has_ended && !is_given &&
      !tree_.running().answer(asker, id,
                              {AnswerKind::text, string_or(arguments, "answer", ""), Source::parent}))
    co_return tool_error(
        "It has its answer already, or went on without one. Its report comes to you by itself.");
  co_return co_await await_child(tree_, &delegation, asker, context, Telling::dialogue);
}

}  // namespace deputy
