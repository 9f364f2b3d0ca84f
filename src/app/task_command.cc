#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/agents.h"
#include "app/commands.h"
#include "app/session_lookup.h"
#include "app/tree_command.h"
#include "app/tree_result.h"
#include "base/text.h"
#include "delegation/profiles.h"
#include "model/command.h"

namespace deputy {
namespace {

// An agent of a folder that is not trusted, or whose file is broken, is refused, with what to do about it.
OrFailure<void> check_agent(Program& program, const std::string& name) {
  TRY(const auto workspace, program.workspace());
  TRY(const auto found, find_agents(program, workspace));
  const auto profiles = profiles_of(found);
  const auto declared = profiles.offered();
  if (std::ranges::any_of(declared, [&name](const Profile* each) { return each->name == name; })) return {};
  for (const auto& each : found) {
    if (each.read.profile.name != name || each.problem.empty()) continue;
    const bool is_broken = each.standing == Standing::broken;
    const bool is_refused = is_broken || each.standing == Standing::untrusted;
    return std::unexpected(CommandFailure(
        {ErrorCode::denied, fmt::format("agent '{}' is not used: {}", name, on_one_line(each.problem)),
         is_broken ? "mend its file; `deputy agents check` tells where it is" : ""},
        is_refused ? ExitStatus::refused : ExitStatus::usage));
  }
  std::vector<std::string> names;
  for (const auto* each : declared) names.push_back(each->name);
  const auto near = nearest(name, names, 1);
  return not_there(
      fmt::format("agent '{}' is not declared", shorten(to_utf8(name), 64)),
      fmt::format("{}declared: {}", near.empty() ? "" : fmt::format("did you mean {}? ", near.front()),
                  fmt::join(names, ", ")));
}

json::object call_of(const OneTaskArguments& arguments, std::string prompt) {
  json::object call{{"agent", arguments.agent}, {"prompt", std::move(prompt)}};
  if (arguments.resume) call["resume"] = *arguments.resume;
  if (arguments.timeout == kNoTimeout) {
    call["timeout"] = "none";
  } else if (arguments.timeout) {
    call["timeout"] = std::chrono::ceil<std::chrono::seconds>(*arguments.timeout).count();
  }
  return call;
}

// The agent at or above the session that a person started.
OrFailure<Session> highest_agent(const Store& store, Session session) {
  while (session.parent) {
    TRY(const auto above, store.session(*session.parent));
    if (!above || above->agent == kCommandAgent) break;
    session = *above;
  }
  return session;
}

// What the root of the tree is told so that the session goes on: the prompt itself where it is the root, the
// call where a person's command started it. A model's child is its own model's affair.
OrFailure<std::string> input_for(const Store& store, const Session& session,
                                 const OneTaskArguments& arguments, std::string prompt) {
  const std::string& id = session.id.value;
  if (session.agent == kCommandAgent)
    return misused(
        fmt::format("{} is a command of yours, not an agent", id),
        fmt::format("go on with an agent that it started, by `deputy task AGENT 'go on' --resume ID`; "
                    "`deputy sessions tree {}` names them",
                    id));
  if (session.agent != arguments.agent)
    return misused(fmt::format("{} is of agent {}, not {}", id, session.agent, arguments.agent),
                   fmt::format("run `deputy task {} 'go on' --resume {}`", session.agent, id));
  if (!is_terminal(session.state))
    return misused(fmt::format("{} has not ended", id),
                   fmt::format("go on with it by `deputy resume {}`, or write to it while it runs by `deputy "
                               "sessions nudge {} TEXT`",
                               id, id));
  if (!session.parent) return prompt;
  TRY(const auto above, highest_agent(store, session));
  if (above.id == session.id)
    return command_input("task", to_json_text(call_of(arguments, std::move(prompt))));
  return misused(
      fmt::format("{} was started by an agent, {}, which alone can go on with it", id, session.parent->value),
      fmt::format("give the agent that you started more to do: `deputy task {} 'go on' --resume {}`",
                  above.agent, above.id.value));
}

// Whoever goes on does so with its own model.
OrFailure<void> check_same_model(Program& program, const Session& session) {
  if (!program.common.model) return {};
  TRY(const auto offer, program.offer());
  TRY(const auto wanted,
      or_misused(named_model(*program.common.model, offer, program.disk.current_folder())));
  if (wanted == session.model) return {};
  return misused(fmt::format("--model is {}, but {} goes on with {}", wanted.value, session.id.value,
                             session.model.value),
                 "leave --model out, or start another task with it");
}

// A root has no time but its tree's: that of all its runs together.
std::optional<TreeLimits> terms_of(const Program& program, const OneTaskArguments& arguments,
                                   const Session& session, const Session& root) {
  LimitSettings given = program.common.limits;
  if (!session.parent) given.timeout = arguments.timeout;
  return terms_for(root, given);
}

Ended further_task(Program& program, OneTaskArguments arguments) {
  TRY(const auto prompt, prompt_of(arguments.prompt, "task AGENT --resume ID"));
  TRY(auto signals, Signals::take());  // before the store's thread
  TRY(auto store, program.open_store());
  TRY(const auto session, session_typed(*store, *arguments.resume));
  TRY(check_same_model(program, session));
  arguments.resume = session.id.value;
  TRY(auto input, input_for(*store, session, arguments, prompt));
  TRY(const auto found, store->session(session.tree));
  const Session root = found.value_or(session);
  TRY(const auto events, store->events_of_session(root.id));
  TRY(check_can_spawn(program, last_model_of(root, events)));
  TRY(auto request, request_for(program, root, std::move(store)));
  const auto terms = terms_of(program, arguments, session, root);
  TRY(check_room(*request.engine.store, request.engine.models, session, root, prompt,
                 terms.value_or(root.limits.value_or(TreeLimits{}))));
  request.what = FurtherInput{session.tree, {.text = std::move(input), .terms = terms}};
  return print_result(program, result_of(run_tree(program, signals, std::move(request))));
}

}  // namespace

Ended task_command(Program& program, const OneTaskArguments& arguments) {
  if (arguments.resume) return further_task(program, arguments);
  TRY(check_agent(program, arguments.agent));
  TRY(auto model, chosen_model(program));
  TRY(auto prompt, prompt_of(arguments.prompt, "task AGENT"));
  TRY(const auto limits, program.limits());
  TRY(check_batch_limits(limits));
  TRY(const auto end,
      start_tree(program, task_work(call_of(arguments, std::move(prompt)), std::move(model))));
  return print_result(program, result_of(end));
}

}  // namespace deputy
