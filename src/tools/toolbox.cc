#include "tools/toolbox.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <new>
#include <unordered_map>
#include <utility>

#include "async/apart.h"
#include "async/task_group.h"
#include "base/display.h"
#include "base/text.h"
#include "tools/approval_rule.h"
#include "tools/workspace_mode.h"
#include "tools/workspace_path.h"
#include "transcript/call_traces.h"

namespace deputy {

namespace {

constexpr std::size_t kErrorBytes = 4096;
constexpr int kMostCalls = 128;  // of one reply; those past it are answered, but not run

// Those of the objects in it too.
std::size_t members_in(const json::value& value) {
  std::size_t members = 0;
  if (const auto* array = value.if_array()) {
    for (const json::value& element : *array) members += members_in(element);
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) members += 1 + members_in(member.value());
  }
  return members;
}

// Whether the JSON text, of which `parsed` was made, has a name twice in one object: only the last is in it.
// Each colon outside a string is a member.
bool names_twice(std::string_view text, const json::value& parsed) {
  std::size_t colons = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') in_string = !in_string;
    if (in_string && text[at] == '\\') ++at;
    if (!in_string && text[at] == ':') ++colons;
  }
  return colons != members_in(parsed);
}

ToolResult told_of_refusal(const Answer& answer) {
  return tool_error(answer.text.empty() ? "The person declined this call."
                                        : fmt::format("The person declined this call: {}", answer.text));
}

// What the process before this one recorded before it began.
std::optional<FileChange> intended(const std::vector<Fact>& traces) {
  for (const Fact& fact : traces) {
    if (const auto* started = std::get_if<CallStarted>(&fact)) return started->change;
  }
  return std::nullopt;
}

ToolResult failed_inside(const Tool& tool, const std::exception& bug) {
  return tool_error(fmt::format("{} failed inside: {}. This is a bug in the tool; go on without it.",
                                tool.text().name, bug.what()));
}

// What the person may say to allow it for longer.
std::vector<std::string> rules_to_offer(const Tool& tool, const json::object& arguments,
                                        const ToolContext& context, const Rules& in_force) {
  auto rule = rule_that_allows(tool, arguments, context, in_force);
  return rule ? std::vector{*std::move(rule)} : std::vector<std::string>{};
}

// By its text: the sessions of a process have mostly the same tools, each in a toolbox of its own. A thread
// has those of its own loop.
Result<std::shared_ptr<const JsonSchema>> compiled_schema(const std::string& text) {
  constexpr std::size_t kMostKept = 64;
  thread_local std::unordered_map<std::string, std::shared_ptr<const JsonSchema>> kept;
  if (const auto found = kept.find(text); found != kept.end()) return found->second;
  TRY(const auto schema, parse_json(text));
  TRY(auto compiled, JsonSchema::compile(schema));
  if (kept.size() == kMostKept) kept.clear();
  return kept.emplace(text, std::make_shared<const JsonSchema>(std::move(compiled))).first->second;
}

SessionJournal::Place place_of(const ToolContext& context) { return {context.id.step, context.id.index}; }

}  // namespace

void grant_over(std::vector<std::shared_ptr<Tool>>& granted, std::shared_ptr<Tool> tool) {
  std::erase_if(granted, [&tool](const auto& other) { return other->text().name == tool->text().name; });
  granted.push_back(std::move(tool));
}

Toolbox::Toolbox(std::vector<std::shared_ptr<Tool>> granted, Rules rules) : rules_(std::move(rules)) {
  for (auto& tool : granted) {
    texts_.push_back(tool->text());
    granted_.emplace(texts_.back().name, Granted{std::move(tool)});
  }
}

Result<std::vector<std::string>> Toolbox::Granted::mistakes_in(const json::object& arguments) const {
  if (!schema) {
    TRY(schema, compiled_schema(tool->text().schema));
  }
  return schema->mistakes_in(arguments);
}

const Toolbox::Granted* Toolbox::find(std::string_view name) const {
  const auto found = granted_.find(name);
  return found == granted_.end() ? nullptr : &found->second;
}

Company Toolbox::company_of(const PendingCall& call) const {
  const Granted* granted = find(call.call.name);
  return granted ? granted->tool->company() : Company::beside_others;
}

Task<Result<void>> Toolbox::run(std::vector<PendingCall> calls, ToolContext context) const {
  for (auto first = calls.begin(); first != calls.end() && !context.stop.stopped();) {
    auto last = std::next(first);
    if (company_of(*first) == Company::beside_others) {
      last = std::find_if(first, calls.end(),
                          [this](const PendingCall& call) { return company_of(call) == Company::alone; });
    }
    Neighbours among{.calls = {first, last},
                     .outcomes = std::vector<Result<void>>(static_cast<std::size_t>(last - first))};
    TaskGroup group(context.loop, context.stop);
    Task<> all_ended = group.join();  // made while nothing runs that would have to be waited for
    std::exception_ptr not_started;
    try {
      for (auto call = first; call != last; ++call) group.spawn(run_beside(among, context));
    } catch (const std::bad_alloc&) {  // those that were started use what is here
      not_started = std::current_exception();
    }
    co_await std::move(all_ended);
    if (not_started) std::rethrow_exception(not_started);
    for (auto& outcome : among.outcomes) CO_TRY(std::move(outcome));
    first = last;
  }
  co_return Result<void>{};
}

// No task of its own: what it hands on is not kept beside the task that takes it.
Task<> Toolbox::run_beside(Neighbours& among, ToolContext& context) const { return run_next(among, context); }

Task<> Toolbox::run_next(Neighbours& among, ToolContext context) const {
  const std::size_t mine = among.begun++;
  PendingCall& call = among.calls[mine];
  Result<void>& outcome = among.outcomes[mine];
  context.id.index = call.index;
  context.traces = call.traces;
  const StopToken stop = context.stop;  // the tool takes the rest
  auto result = co_await result_of(call, context);
  if (!result) {
    outcome = std::unexpected(std::move(result).error());
    co_return;
  }
  const Granted* granted = find(call.call.name);
  if (granted && granted->tool->effect() != Effect::once && suspends(stop.reason())) {
    // What it found is the truth of a run that was broken off: it is asked again when the run goes on.
    outcome = std::unexpected(Error::cancelled());
    co_return;
  }
  result->call_id = call.call.id;
  // What the model may see: valid text of bounded size.
  result->content =
      bounded(to_utf8(result->content), granted ? granted->tool->most_result_bytes() : kErrorBytes).text;
  apart([&] { context.journal.ride_along(place_of(context), CallFinished{*std::move(result)}); });
}

std::expected<Toolbox::Cleared, ToolResult> Toolbox::clear(const Call& call) const {
  const Granted* granted = find(call.name);
  if (!granted) {
    std::vector<std::string> names;
    for (const auto& [name, each] : granted_) names.push_back(name);
    return std::unexpected(tool_error(fmt::format("You have no tool named '{}'. Your tools are: {}.",
                                                  shorten(call.name, 64), fmt::join(names, ", "))));
  }
  auto arguments = parse_json_object(call.arguments.empty() ? "{}" : call.arguments);
  if (!arguments) {
    return std::unexpected(
        tool_error(fmt::format("The arguments of {} must be one JSON object: {}. Call it again.", call.name,
                               arguments.error().message)));
  }
  if (names_twice(call.arguments, *arguments)) {
    return std::unexpected(tool_error(fmt::format(
        "The arguments of {} have the same name twice in one object. Say each once and call it again.",
        call.name)));
  }
  const auto mistakes = granted->mistakes_in(*arguments);
  if (!mistakes) {
    return std::unexpected(tool_error(fmt::format(
        "{} cannot be called, for nothing can tell whether its arguments are valid: {}. Go on without it.",
        call.name, mistakes.error().message)));
  }
  if (!mistakes->empty()) {
    return std::unexpected(
        tool_error(fmt::format("The arguments of {} are not valid:\n- {}\nMend them and call it again.",
                               call.name, fmt::join(*mistakes, "\n- "))));
  }
  return Cleared{granted, *std::move(arguments)};
}

Task<std::expected<std::optional<Target>, ToolResult>> Toolbox::target_of(Cleared& cleared,
                                                                          ToolContext& context) {
  const Tool& tool = *cleared.granted->tool;
  auto path = tool.path(cleared.arguments);
  if (!path) co_return std::nullopt;
  // Mostly the kernel knows the way, and a thread would take longer to wake than to ask it.
  auto at_once = find_target_at_once(context.workspace, context.roots, *path);
  const bool is_found = at_once.has_value();
  Result<Target> target = is_found ? *std::move(at_once) : Target{};
  if (!is_found) {
    target = co_await on_pool(context.loop, context.pool,
                              [&workspace = context.workspace, &roots = context.roots,
                               path = *std::move(path)] { return find_target(workspace, roots, path); });
  }
  if (!target) co_return std::unexpected(tool_error(to_text(target.error())));
  if (is_hidden_scratch(context.session, context.children, target->name)) {
    co_return std::unexpected(
        tool_error(fmt::format("{} belongs to another agent. Leave it alone.", shown_path(target->name))));
  }
  // A root that lies in a hidden folder was granted by itself.
  const bool is_granted = target->root != &context.workspace &&
                          is_hidden_state(context.session, context.hidden, target->root->path());
  if (!is_granted && is_hidden_state(context.session, context.hidden, target->name)) {
    co_return std::unexpected(
        tool_error(fmt::format("{} belongs to deputy itself. Leave it alone.", shown_path(target->name))));
  }
  if (tool.writes()) {
    if (auto refusal = refusal_to_write(context.session, target->name))
      co_return std::unexpected(tool_error(*std::move(refusal)));
  }
  co_return *std::move(target);
}

Task<Result<std::optional<ToolResult>>> Toolbox::declined(Cleared cleared, ToolContext context,
                                                          bool is_started) const {
  const Tool& tool = *cleared.granted->tool;
  const Question question{.id = fmt::format("q_{}", to_text(context.id)),
                          .kind = QuestionKind::permission,
                          .asker = context.session.id,
                          .label = context.session.label,
                          .agent = context.session.agent,
                          .text = made_unmistakable(tool.approval_text(cleared.arguments, context)),
                          .suggestions = rules_to_offer(tool, cleared.arguments, context, rules_)};
  const bool is_answered_at_once = context.asker.answers_at_once();
  if (is_answered_at_once) {
    context.journal.ride_along(place_of(context), QuestionAsked{question});
  } else {
    CO_TRY(co_await context.journal.record(place_of(context), {QuestionAsked{question}}));
  }
  const Answer answer = co_await context.asker.ask(question, context.stop);
  if (suspends(context.stop.reason())) co_return std::unexpected(Error::cancelled());
  std::vector<Fact> facts{QuestionAnswered{question.id, answer}};
  if (answer.kind == AnswerKind::approved && !is_started) facts.emplace_back(intent_of(cleared, context));
  if (is_answered_at_once && tool.only_records()) {  // as its intent does where nobody is asked
    context.journal.ride_together(place_of(context), std::move(facts));
  } else {
    CO_TRY(co_await context.journal.record(place_of(context), std::move(facts)));
  }
  switch (answer.kind) {
    case AnswerKind::approved:
      co_return std::nullopt;
    case AnswerKind::nobody:
      if (!answer.text.empty())
        co_return tool_error(fmt::format("Not run: {} ({} needed approval).", answer.text, tool.text().name));
      co_return tool_error(
          fmt::format("Not permitted: {} needs approval, and nobody is there to give it.", tool.text().name));
    default:
      co_return told_of_refusal(answer);
  }
}

Task<Tool::Planned> Toolbox::planned(Cleared cleared, ToolContext context) {
  Tool& tool = *cleared.granted->tool;
  try {
    co_return co_await tool.plan(std::move(cleared.arguments), std::move(context));
  } catch (const std::exception& bug) {
    co_return std::unexpected(failed_inside(tool, bug));
  }
}

Task<std::optional<ToolResult>> Toolbox::refusal(Cleared cleared, ToolContext context) {
  Tool& tool = *cleared.granted->tool;
  try {
    co_return co_await tool.refusal(std::move(cleared.arguments), std::move(context));
  } catch (const std::exception& bug) {
    co_return failed_inside(tool, bug);
  }
}

Task<Result<ToolResult>> Toolbox::result_of(PendingCall& call, ToolContext& context) const {
  if (call.index >= kMostCalls) {
    co_return tool_error(fmt::format(
        "Not run: a reply may make {} calls, and this is one more. Make it again in your next reply.",
        kMostCalls));
  }
  auto cleared = clear(call.call);
  if (!cleared) co_return std::move(cleared).error();
  CO_TRY(auto instead, co_await result_without_run(call, *cleared, context));
  if (instead) co_return *std::move(instead);
  Tool& tool = *cleared->granted->tool;
  try {
    co_return co_await apart([&] { return tool.run(std::move(cleared->arguments), std::move(context)); });
  } catch (const std::exception& bug) {
    co_return failed_inside(tool, bug);
  }
}

Task<Result<std::optional<ToolResult>>> Toolbox::result_without_run(PendingCall& call, Cleared& cleared,
                                                                    ToolContext& context) const {
  Tool& tool = *cleared.granted->tool;
  if (call.started && tool.effect() == Effect::once) co_return co_await tool.after_crash(context);
  if (context.at_limit && !call.started && !tool.runs_at_limit()) {
    co_return tool_error(
        fmt::format("Not run: your limit is reached, and {} is not for your last step.", tool.text().name));
  }
  auto target = co_await target_of(cleared, context);
  if (!target) co_return std::move(target).error();
  context.target = *std::move(target);
  // Also for a call that had begun: its path may lead elsewhere by now.
  const Verdict verdict = tool.judge(rules_, cleared.arguments, context);
  if (verdict.decision == Decision::deny)
    co_return tool_error(fmt::format("Not permitted: {}.", verdict.reason));
  if (call.started) {
    context.intent = intended(context.traces);
  } else {
    auto plan = co_await planned(cleared, context);
    if (!plan) co_return std::move(plan).error();
    context.intent = *std::move(plan);
  }
  // Before the process that asked was stopped. What was approved is the intent that was recorded with it.
  const Answer* before = answered_before(context.traces, QuestionKind::permission);
  if (verdict.decision == Decision::ask && before && before->kind == AnswerKind::refused)
    co_return told_of_refusal(*before);
  const bool was_approved = call.started && before && before->kind == AnswerKind::approved;
  if (verdict.decision == Decision::ask && !was_approved) {
    auto refused = co_await apart([&] { return refusal(cleared, context); });
    if (refused) co_return *std::move(refused);
    co_return co_await declined(cleared, context, call.started);
  }
  if (!call.started) CO_TRY(co_await record_intent(cleared, context));
  co_return std::nullopt;
}

CallStarted Toolbox::intent_of(const Cleared& cleared, const ToolContext& context) {
  const Tool& tool = *cleared.granted->tool;
  return {tool.text().name, for_screen(tool.shown(cleared.arguments)), context.intent};
}

Task<Result<void>> Toolbox::record_intent(Cleared& cleared, ToolContext& context) {
  if (cleared.granted->tool->only_records()) {
    context.journal.ride_along(place_of(context), intent_of(cleared, context));
    co_return Result<void>{};
  }
  co_return co_await context.journal.record(place_of(context), {intent_of(cleared, context)});
}

}  // namespace deputy
