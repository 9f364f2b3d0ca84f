#include "delegation/task_tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "async/apart.h"
#include "base/text.h"
#include "delegation/approval.h"
#include "delegation/child_calls.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    "Hand one task to a subagent and wait for its report. It sees only the prompt, nothing of this "
    "conversation: "
    "say what to do, what it needs to know, and the shape of the answer. Several calls in one reply run at "
    "the same "
    "time. Agents:\n";

constexpr std::string_view kSchema = R"json({"type":"object","properties":{
"agent":{"type":"string","minLength":1},
"subagent_type":{"type":"string","minLength":1,"description":"the same as agent"},
"prompt":{"type":"string","minLength":1},
"description":{"type":"string","minLength":1,"maxLength":80,"description":"3-5 words, for people"},
"max_turns":{"type":"integer","minimum":1,"description":"lowers the agent's own limit"},
"timeout":{"anyOf":[{"type":"integer","minimum":1},{"type":"string","enum":["none"]}],"description":"seconds, or none"},
"run_in_background":{"type":"boolean","description":"answers with an id at once; the report comes by itself"},
"resume":{"type":"string","minLength":1,"description":"session id of a subagent that has ended: it goes on with this prompt"}},
"required":["prompt"],"additionalProperties":false})json";

// What other programs call it, and models know.
constexpr std::string_view kFieldsGeneral = "general-purpose";

constexpr std::size_t kGoalCharacters = 60;

Delegation delegation_of(const TaskArguments& read, const ToolContext& context) {
  return {.key = {context.id, 0},
          .parent = context.session,
          .model = context.model,
          .agent = read.agent,
          .brief = {.label = read.agent, .prompt = read.prompt},
          .max_turns = read.max_turns,
          .timeout = read.timeout,
          .background = read.background};
}

// The run that an earlier attempt at the same call has asked for.
std::optional<int> attached_run(const std::vector<Fact>& traces) {
  for (const Fact& fact : traces) {
    if (const auto* attached = std::get_if<Attached>(&fact)) return attached->run;
  }
  return std::nullopt;
}

ToolResult not_understood(const Error& error) {
  return tool_error(fmt::format("{}: {}.", error.message, error.advice));
}

// The next run of a child whose last one has this number, or that which an earlier attempt has asked for.
Resumption resumption_of(const TaskArguments& read, int last, const ToolContext& context) {
  return {.child = *read.resume,
          .run = attached_run(context.traces).value_or(last + 1),
          .parent = context.session,
          .prompt = read.prompt,
          .where = read.background ? Children::Where::beside : Children::Where::awaited,
          .max_turns = read.max_turns,
          .timeout = read.timeout};
}

// Some errors are sentences, others half of one.
ToolResult not_resumed(const Error& error) {
  std::string why = to_text(error);
  if (!why.ends_with('.')) why += '.';
  return tool_error("Not resumed: " + why);
}

}  // namespace

std::string list_of(const std::vector<const Profile*>& declared) {
  if (declared.empty()) return "(none declared)";
  std::string list;
  for (const auto* profile : declared) {
    list += fmt::format(
        "- {}: {}\n", profile->name,
        profile->description.empty() ? "(no description provided)" : on_one_line(profile->description));
  }
  list.pop_back();
  return list;
}

std::string declared_name(const std::string& agent, const std::vector<std::string>& declared) {
  const bool is_declared = std::ranges::find(declared, agent) != declared.end();
  return agent == kFieldsGeneral && !is_declared ? "general" : agent;
}

ToolResult not_declared(const Tree& tree, std::string_view agent, const std::vector<std::string>& declared) {
  const std::string why = tree.profiles().why_left_out(agent);
  return tool_error(fmt::format("agent '{}' is not declared here{}{}; declared: {}", shorten(agent, 64),
                                why.empty() ? "" : ": ", why,
                                declared.empty() ? "(none)" : fmt::format("{}", fmt::join(declared, ", "))));
}

std::optional<Duration> timeout_in(const json::object& arguments) {
  if (string_at(arguments, "timeout")) return kNoTimeout;  // "none", by the schema
  const auto seconds = integer_at(arguments, "timeout");
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(std::min<std::int64_t>(*seconds, 365LL * 24 * 3600));
}

Result<TaskArguments> read_task_arguments(const json::object& arguments) {
  const auto agent = string_at(arguments, "agent");
  const auto type = string_at(arguments, "subagent_type");
  const auto resume = string_at(arguments, "resume");
  if (!agent && !type && !resume)
    return fail(ErrorCode::invalid, "agent is missing", "name the agent to run");
  if (agent && type && *agent != *type)
    return fail(ErrorCode::invalid, fmt::format("agent is '{}' and subagent_type is '{}'", *agent, *type),
                "give one of them");
  TaskArguments read{.agent = agent ? *agent : type.value_or(""),
                     .prompt = string_or(arguments, "prompt", ""),
                     .description = string_or(arguments, "description", "")};
  if (const auto turns = integer_at(arguments, "max_turns"))
    read.max_turns = static_cast<int>(std::min<std::int64_t>(*turns, 1'000'000));
  read.timeout = timeout_in(arguments);
  read.background = bool_at(arguments, "run_in_background").value_or(false);
  if (resume) read.resume = SessionId(*resume);
  return read;
}

std::string_view TaskTool::schema() { return kSchema; }

TaskTool::TaskTool(Tree& tree, const std::vector<const Profile*>& declared, Decision by_default)
    : tree_(tree),
      text_{"task", std::string(kDescription) + list_of(declared), std::string(kSchema)},
      by_default_(by_default) {
  for (const auto* profile : declared) declared_.push_back(profile->name);
}

std::size_t TaskTool::most_result_bytes() const { return tree_.reports().most_of_one(); }

Result<TaskArguments> TaskTool::read(const json::object& arguments) const {
  TRY(auto read, read_task_arguments(arguments));
  read.agent = declared_name(read.agent, declared_);
  return read;
}

// The child that a call goes on with has its agent and its model already.
std::optional<Session> TaskTool::resumed(const TaskArguments& read) const {
  if (!read.resume) return std::nullopt;
  const auto found = tree_.store().session(*read.resume);
  return found ? *found : std::nullopt;
}

std::string TaskTool::shown(const json::object& arguments) const {
  const auto read = this->read(arguments);
  if (!read) return {};
  const auto before = resumed(*read);
  return fmt::format(
      "[{}] {}", on_one_line(before ? before->agent : read->agent),
      shorten(on_one_line(read->description.empty() ? read->prompt : read->description), kGoalCharacters));
}

std::string TaskTool::approval_text(const json::object& arguments, const ToolContext& context) const {
  const auto read = this->read(arguments);
  if (!read) return {};
  const auto before = resumed(*read);
  const PlannedChild child = before ? PlannedChild{before->model, before->max_output_tokens}
                                    : tree_.planned(delegation_of(*read, context));
  const std::vector<ToldChild> told{
      {.name = before ? before->agent : read->agent,
       .prompt = read->prompt,
       .given = without(arguments, {"agent", "subagent_type", "prompt", "description"})}};
  return fmt::format("{} 1 subagent: {} -- {}{}", before ? "Resume" : "Spawn",
                     goals_text(told, kGoalCharacters), terms_text({child}, tree_.models(), tree_.budget()),
                     briefs_text(told, kGoalCharacters));
}

bool TaskTool::is_offered(const std::string& agent, const ToolContext& context) const {
  return std::ranges::find(declared_, agent) != declared_.end() || tree_.has_child({context.id, 0});
}

Task<std::optional<ToolResult>> TaskTool::refusal(json::object arguments, ToolContext context) {
  const auto read = this->read(arguments);
  if (!read) co_return not_understood(read.error());
  if (read->resume) {
    auto child = to_resume(*read, context);
    if (!child) co_return std::move(child).error();
    co_return std::nullopt;
  }
  if (!is_offered(read->agent, context)) co_return not_declared(tree_, read->agent, declared_);
  co_return co_await refusal_beforehand(tree_, delegation_of(*read, context));
}

Task<ToolResult> TaskTool::run(json::object arguments, ToolContext context) {
  const auto read = this->read(arguments);
  if (!read) co_return not_understood(read.error());
  if (!read->resume && !is_offered(read->agent, context))
    co_return not_declared(tree_, read->agent, declared_);
  co_return co_await (read->resume ? resume(&*read, context) : start(&*read, context));
}

Task<ToolResult> TaskTool::start(const TaskArguments* read, ToolContext& context) {
  const Delegation delegation = delegation_of(*read, context);
  const auto child = co_await apart([&] { return tree_.start_child(delegation, context.stop); });
  if (!child) co_return co_await apart([&] { return refusal_result(tree_, delegation, child.error()); });
  if (read->background)
    co_return leave_beside(*child, tree_.run_of(*child), read->agent,
                           read->description.empty() ? read->prompt : read->description, context);
  co_return co_await await_child(tree_, &delegation, *child, context, Telling::plain);
}

std::expected<Session, ToolResult> TaskTool::to_resume(const TaskArguments& read,
                                                       const ToolContext& context) const {
  auto child = tree_.own_child(context.session.id, *read.resume);
  if (!child) return std::unexpected(not_resumed(child.error()));
  if (!read.agent.empty() && read.agent != child->agent)
    return std::unexpected(tool_error(
        fmt::format("{} is of agent {}: leave agent out, or give that.", read.resume->value, child->agent)));
  if (const auto refused = tree_.refusal_of(resumption_of(read, child->run, context)))
    return std::unexpected(not_resumed(*refused));
  return *std::move(child);
}

Task<ToolResult> TaskTool::resume(const TaskArguments* read, ToolContext& context) {
  auto before = to_resume(*read, context);
  if (!before) co_return std::move(before).error();
  const Resumption resumption = resumption_of(*read, before->run, context);
  std::shared_ptr<const void> prepared;  // before it is on record that this call resumes it
  if (!attached_run(context.traces)) {
    auto held = tree_.prepare_to_resume(*read->resume);
    if (!held) co_return not_resumed(held.error());
    prepared = *std::move(held);
    const SessionJournal::Place place{context.id.step, context.id.index};
    const auto kept = co_await context.journal.record(place, {Attached{*read->resume, resumption.run}});
    if (!kept) co_return tool_error(to_text(kept.error()));
  }
  const auto child = co_await tree_.resume_child(resumption, context.stop);
  if (!child) co_return not_resumed(child.error());
  if (read->background) co_return leave_beside(*child, resumption.run, before->agent, read->prompt, context);
  const Delegation delegation{.key = {context.id, 0},
                              .parent = context.session,
                              .model = context.model,
                              .agent = before->agent,
                              .brief = {.label = before->label}};
  co_return co_await await_child(tree_, &delegation, *child, context, Telling::plain);
}

}  // namespace deputy
