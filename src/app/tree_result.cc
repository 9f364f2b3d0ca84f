#include "app/tree_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "app/failure.h"
#include "app/places.h"
#include "app/replay_comparison.h"
#include "base/json.h"
#include "base/text.h"
#include "delegation/batch_report.h"
#include "transcript/codec.h"

namespace deputy {
namespace {

constexpr std::size_t kMostRules = 3;  // named to the person

const Session* root_of(const TreeEnd& end) {
  const auto found = std::ranges::find(end.sessions, end.root, &Session::id);
  return found == end.sessions.end() ? nullptr : &*found;
}

// One that has no record yet has no id here either.
bool is_left_unfinished(const TreeEnd& end) {
  const Session* root = root_of(end);
  return !end.root.empty() && !(root && is_terminal(root->state));
}

bool is_command(const TreeEnd& end) {
  const Session* root = root_of(end);
  return root && root->agent == "command";
}

// What the last call of a command gave, whether it ever began, and which run of a child it has asked for.
struct CommandCall {
  bool has_begun = false;
  const ToolResult* result = nullptr;
  const Attached* attached = nullptr;
};

CommandCall call_of(const std::vector<Event>& events) {
  CommandCall call;
  for (const auto& event : events) {
    if (std::holds_alternative<RunStarted>(event.fact)) call = {};
    if (std::holds_alternative<CallStarted>(event.fact)) call.has_begun = true;
    if (const auto* finished = std::get_if<CallFinished>(&event.fact)) call.result = &finished->result;
    if (const auto* attached = std::get_if<Attached>(&event.fact)) call.attached = attached;
  }
  return call;
}

// The arguments are what the person typed last; a child that never came to be is in them, but not among the
// sessions.
json::object arguments_of(const TreeEnd& end) {
  const std::string* typed = &root_of(end)->prompt;
  for (const auto& event : end.root_events) {
    const auto* input = std::get_if<InputGiven>(&event.fact);
    if (input && input->source == Source::person) typed = &input->text;
  }
  const auto command = parse_json_object(*typed);
  const auto* arguments = command ? object_at(*command, "arguments") : nullptr;
  return arguments ? *arguments : json::object{};
}

bool is_task(const TreeEnd& end) { return is_command(end) && arguments_of(end).contains("agent"); }

std::optional<Status> status_of(SessionState state) {
  for (const Status status :
       {Status::completed, Status::partial, Status::failed, Status::blocked, Status::cancelled}) {
    if (state_after(status) == state) return status;
  }
  return std::nullopt;
}

BatchCount count_children(const TreeEnd& end, const json::object& arguments) {
  const auto* tasks = array_at(arguments, "tasks");
  BatchCount count{.total = tasks ? tasks->size() : 0};
  for (const auto& session : end.sessions) {
    if (session.parent != end.root) continue;
    if (session.state == SessionState::completed) ++count.ok;
    if (session.state == SessionState::partial || session.state == SessionState::blocked) ++count.partial;
  }
  return count;
}

// What a person is told of a report that is not completed.
void tell_person(TreeResult& result, const Report& report) {
  auto [problem, advice] = for_person(report);
  result.problem = std::move(problem);
  result.advice = std::move(advice);
}

// The one that a task is about; nothing where it never came to be.
const Session* child_of(const TreeEnd& end, const json::object& arguments) {
  const auto resumed = string_at(arguments, "resume");
  const auto found = resumed ? std::ranges::find(end.sessions, SessionId(*resumed), &Session::id)
                             : std::ranges::find(end.sessions, end.root, &Session::parent);
  return found == end.sessions.end() ? nullptr : &*found;
}

// The words of a limit are stable (limits.md).
bool is_of_a_limit(const std::string& refusal) {
  return refusal.contains("budget exhausted") || refusal.contains("depth exceeded");
}

// A child that was to go on and has no such run was not let.
bool was_refused(const CommandCall& call, const Session* child, const json::object& arguments) {
  if (!child) return true;
  if (!arguments.contains("resume") || call.result->status == ToolStatus::ok) return false;
  return !call.attached || child->run < call.attached->run;
}

// The call's own words are a model's: what a person can do about it is not among them.
std::string way_past(const std::string& refusal) {
  if (refusal.contains("denied by rule")) return "leave that rule out of --deny and of the settings";
  return is_of_a_limit(refusal) && !refusal.contains("raise --") ? "raise the limit, or leave it out" : "";
}

void refuse(TreeResult& result, const CommandCall& call, ExitStatus status) {
  result.text.clear();
  result.problem = call.result->content;
  result.advice = way_past(result.problem);
  result.reason = Reason::none;
  result.status = status;
  if (status != ExitStatus::refused) return;
  result.evidence.clear();  // no child reports anything
  if (const auto told = told_of_unapproved(result.unapproved)) {
    result.advice = told->advice;
    result.unapproved.clear();
  }
}

void add_evidence(TreeResult& result, const Report& report) {
  const json::object whole = to_json(report);
  for (const auto* key : {"artifacts", "errors", "next_steps", "files", "commands"}) {
    const auto* list = array_at(whole, key);
    if (!list || list->empty()) continue;
    auto& all = result.evidence[key];
    if (!all.is_array()) all.emplace_array();
    for (const auto& each : *list) {
      all.as_array().push_back(each);
      if (auto* error = all.as_array().back().if_object(); error && std::string_view(key) == "errors")
        (*error)["session_id"] = report.session.value;
    }
  }
}

// One child by profile: its end is the command's.
void fill_in_task(TreeResult& result, const TreeEnd& end) {
  const CommandCall call = call_of(end.root_events);
  const auto arguments = arguments_of(end);
  const Session* child = child_of(end, arguments);
  if (call.result && was_refused(call, child, arguments)) return refuse(result, call, ExitStatus::refused);
  if (!child) return;
  if (call.result) {
    result.text = call.result->content;
    result.problem.clear();
    result.advice.clear();
  }
  result.reason = child->reason;
  const auto report = std::ranges::find(end.children, child->id, &Report::session);
  if (report != end.children.end()) {
    result.evidence.clear();
    add_evidence(result, *report);
    if (report->status != Status::completed) tell_person(result, *report);
  }
  const auto status = status_of(child->state);
  if (call.result && status) result.status = exit_status_of(*status);
}

void fill_in_batch(TreeResult& result, const TreeEnd& end, Status root) {
  const auto arguments = arguments_of(end);
  const CommandCall call = call_of(end.root_events);
  for (const auto& report : end.children) add_evidence(result, report);
  result.is_json = string_or(arguments, "return", "markdown") == "json";
  if (call.result && call.result->status == ToolStatus::ok) {
    result.text = call.result->content;  // also where the root was stopped before it could say so
  } else if (call.result) {
    return refuse(result, call, call.has_begun ? ExitStatus::failed : ExitStatus::refused);
  }
  if (root != Status::completed) return;
  result.status = exit_status_of(count_children(end, arguments));
  result.problem.clear();
}

bool starts_children(std::string_view tool) {
  return tool == "Delegate" || tool == "task" || tool == "spawn_subagent";
}

// What came back from children after the last reply: the model that was stopped says nothing of it. Of a
// child that went on beside it nothing had come back; what its call says is how a model goes on with it.
std::string untold_of_children(const std::vector<Event>& events) {
  std::set<int> calls;
  std::string text;
  for (const auto& event : events) {
    if (std::holds_alternative<ReplyReceived>(event.fact)) {
      calls.clear();
      text.clear();
    }
    const auto* started = std::get_if<CallStarted>(&event.fact);
    if (started && starts_children(started->tool)) calls.insert(event.call);
    if (std::holds_alternative<Detached>(event.fact)) calls.erase(event.call);
    const auto* finished = std::get_if<CallFinished>(&event.fact);
    if (!finished || !calls.contains(event.call)) continue;
    if (!text.empty()) text += "\n\n";
    text += finished->result.content;
  }
  return text;
}

void fill_in_stopped_run(TreeResult& result, const TreeEnd& end) {
  const std::string untold = untold_of_children(end.root_events);
  if (untold.empty()) return;
  if (!result.text.empty()) result.text += "\n\n";
  result.text += untold;
}

void fill_in_report(TreeResult& result, const Report& report) {
  result.status = exit_status_of(report.status);
  result.text = report.body;
  result.session = report.session;
  result.duration = report.duration;
  result.reason = report.reason;
  add_evidence(result, report);
  if (report.status != Status::completed && !report.errors.empty()) tell_person(result, report);
}

}  // namespace

TreeResult result_of(const TreeEnd& end) {
  TreeResult result;
  result.unapproved = end.unapproved;
  for (const auto& session : end.sessions) result.usage = result.usage + session.usage;
  if (end.report) {
    fill_in_report(result, *end.report);
    if (is_task(end)) {
      fill_in_task(result, end);
    } else if (is_command(end)) {
      fill_in_batch(result, end, end.report->status);
    } else if (end.report->status == Status::cancelled) {
      fill_in_stopped_run(result, end);
    }
    return result;
  }
  const Error& error = end.report.error();
  result.session = end.root;
  result.problem = error.message;
  result.advice = error.advice;
  if (error.code == ErrorCode::cancelled) {
    result.status = ExitStatus::cancelled;
    result.problem =
        end.left_by.empty() ? "left unfinished" : fmt::format("left unfinished: ended by {}", end.left_by);
    if (!end.root.empty()) result.advice = fmt::format("to go on: `deputy resume {}`", end.root.value);
  } else if (error.code == ErrorCode::exhausted && is_left_unfinished(end)) {
    result.advice +=
        fmt::format("{}run `deputy resume {}`", result.advice.empty() ? "" : ", then ", end.root.value);
  }
  return result;
}

std::optional<Error> told_of_unapproved(const std::vector<Question>& unapproved) {
  if (unapproved.empty()) return std::nullopt;
  std::vector<std::string> rules;
  for (const Question& question : unapproved) {
    for (const std::string& rule : question.suggestions) {
      std::string flag = fmt::format("--allow {}", shell_quoted(rule));
      if (rules.size() < kMostRules && std::ranges::find(rules, flag) == rules.end())
        rules.push_back(std::move(flag));
    }
  }
  const bool is_one = unapproved.size() == 1;
  return Error{ErrorCode::denied,
               fmt::format("{} call{} not made: nobody was there to approve {}", unapproved.size(),
                           is_one ? " was" : "s were", is_one ? "it" : "them"),
               rules.empty() ? "--yes approves whatever is asked"
                             : fmt::format("--yes approves whatever is asked, a rule what it names: {}",
                                           fmt::join(rules, " "))};
}

namespace {

// As a command says it that is refused before it starts.
std::string_view code_of(const TreeResult& result) {
  if (result.reason != Reason::none) return name_of(result.reason);
  if (result.status != ExitStatus::refused) return word_for(result.status);
  return name_of(is_of_a_limit(result.problem) ? ErrorCode::exhausted : ErrorCode::denied);
}

}  // namespace

json::object to_json(const TreeResult& result) {
  json::object document{{"status", word_for(result.status)}, {"result", result.text}};
  if (result.is_json) {
    if (auto parsed = parse_json(result.text)) document["result"] = *std::move(parsed);
  }
  if (result.reason != Reason::none) document["reason"] = name_of(result.reason);
  if (!result.problem.empty()) {
    document["error"] = error_json(code_of(result), result.problem, result.advice);
  }
  for (const auto& [key, value] : result.evidence) document[key] = value;
  if (const auto told = told_of_unapproved(result.unapproved)) {
    document["unapproved_calls"] = result.unapproved.size();
    document["unapproved"] = error_json(name_of(told->code), told->message, told->advice);
  }
  document["session_id"] = result.session.value;
  document["usage"] = to_json(result.usage);
  document["duration_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(result.duration).count();
  return document;
}

namespace {

// A file or a pipe gets the text as it is; on a terminal nothing in it may act.
std::string shown_on(const Program& program, const std::string& text) {
  std::string clean = program.redactor.redact(text);
  return ::isatty(program.out.descriptor()) ? made_visible(clean) : clean;
}

// What is recommended stands in the text, too, and is typed so wherever it stands there.
void type_recommendations(const Program& program, TreeResult& result) {
  const auto written = [&result](std::string_view text) {
    if (!result.is_json) return std::string(text);
    const std::string quoted = to_json_text(json::string(text));
    return quoted.substr(1, quoted.size() - 2);
  };
  auto* errors = result.evidence.if_contains("errors");
  if (!errors || !errors->is_array()) return;
  for (auto& error : errors->get_array()) {
    if (!error.is_object()) continue;
    const std::string before = string_or(error.get_object(), "recommendation", "");
    const std::string after = program.as_typed_here(before);
    if (after == before) continue;
    error.get_object()["recommendation"] = after;
    result.text = replaced(std::move(result.text), written(before), written(after));
  }
}

}  // namespace

Ended print_result(Program& program, TreeResult result) {
  result.problem = program.as_typed_here(result.problem);
  result.advice = program.redactor.redact(program.as_typed_here(result.advice));
  type_recommendations(program, result);
  switch (program.common.output) {
    case OutputForm::text:
      if (!result.text.empty()) program.out.write_line(shown_on(program, result.text));
      break;
    case OutputForm::json:
    case OutputForm::stream_json:
      program.print(to_json(result));
      break;
  }
  if (!result.problem.empty()) {
    program.tell({ErrorCode::internal, result.problem, result.advice});
  }
  if (const auto told = told_of_unapproved(result.unapproved))
    program.err.write_line(program.redactor.redact(error_line(*told)));
  return result.status;
}

}  // namespace deputy
