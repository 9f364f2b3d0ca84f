#include <fmt/format.h>

#include <algorithm>

#include "app/commands.h"
#include "app/places.h"
#include "app/session_lookup.h"
#include "app/tree_command.h"
#include "app/tree_result.h"
#include "delegation/profiles.h"
#include "store/unique_facts.h"

namespace deputy {
namespace {

OrFailure<void> check_flags(const CommonArguments& common) {
  if (!common.model && common.rules.empty() && !common.cwd) return {};
  return misused("a resumed tree keeps its model, its folder and its rules",
                 "leave --model, --cwd and rules out; limits may be set anew");
}

// What has ended has its result: limits that are given now are for going on with it, which is another
// command.
OrFailure<void> check_limits(const Store& store, const Session& root, const LimitSettings& given) {
  if (!is_terminal(root.state) || given == LimitSettings{}) return {};
  Session session = root;
  if (root.agent == kCommandAgent) {
    TRY(const auto all, store.sessions({.tree = root.id, .most = kAllSessions}));
    for (const auto& each : all) {
      if (each.parent == root.id && each.state != SessionState::completed) session = each;
    }
  }
  const std::string id = session.id.value;
  return misused(
      fmt::format("{} has ended ({}): it is not gone on with by itself", root.id.value, name_of(root.state)),
      session.agent == kCommandAgent
          ? fmt::format("see its result with `deputy resume {}`", id)
          : fmt::format("give it more to do under the new limits: `deputy task {} 'go on' --resume "
                        "{}` with them, or see its result with `deputy resume {}`",
                        session.agent, id, root.id.value));
}

// A child that was left, and may not run, would only wait.
OrFailure<void> check_terms(const Store& store, const Session& root, const TreeLimits& limits) {
  if (root.agent == kCommandAgent) return check_batch_limits(limits);
  TRY(check_live_limit(limits));
  TRY(const auto all, store.sessions({.tree = root.id, .most = kAllSessions}));
  const bool has_children =
      std::ranges::any_of(all, [](const Session& each) { return each.parent && !is_terminal(each.state); });
  return has_children ? check_children_limit(limits) : OrFailure<void>{};
}

// The root of the tree to go on with; nothing when none is unfinished. What somebody runs is not left.
OrFailure<std::optional<Session>> root_to_resume(const Store& store, const ResumeArguments& arguments) {
  if (!arguments.id) {
    TRY(auto unfinished, left_unfinished(store));
    if (unfinished.empty()) return std::nullopt;
    return std::move(unfinished.front());
  }
  TRY(const auto session, session_typed(store, *arguments.id));
  TRY(const auto holder, store.holder(session.tree));
  if (holder) return std::unexpected(held_elsewhere(session.tree, *holder));
  TRY(auto root, store.session(session.tree));
  return root;
}

// The newest tree that has not ended and that another process runs.
OrFailure<std::optional<Error>> run_elsewhere(const Store& store) {
  TRY(const auto roots, store.sessions({.roots_only = true, .unfinished_only = true, .most = kAllSessions}));
  for (const Session& root : roots) {
    TRY(const auto holder, store.holder(root.id));
    if (holder) return held_elsewhere(root.id, *holder);
  }
  return std::nullopt;
}

Ended nothing_unfinished(Program& program, const Store& store) {
  TRY(const auto elsewhere, run_elsewhere(store));
  std::string told = "nothing was left unfinished";
  if (elsewhere) told += ": " + elsewhere->message;
  program.tell({ErrorCode::not_found, told, elsewhere ? elsewhere->advice : ""});
  if (program.common.output == OutputForm::text) return ExitStatus::completed;
  program.print(json::object{{"status", "completed"}, {"session_id", nullptr}});
  return ExitStatus::completed;
}

// Whoever talked to it in a chat can do so again; this command only brings it to its answer.
bool can_be_talked_to(const Session& root) { return root.agent != kCommandAgent; }

std::string told_at_start(const Session& root) {
  const std::string& id = root.id.value;
  if (is_terminal(root.state))
    return fmt::format(
        "deputy: {} has ended ({}), so that nothing is left to go on with by itself; this is its result "
        "again",
        id, name_of(root.state));
  if (!can_be_talked_to(root)) return fmt::format("deputy: going on with {}", id);
  return fmt::format("deputy: going on with {} up to its answer; `/resume {}` in a chat goes on talking", id,
                     id);
}

void add_way_to_talk(TreeResult& result, const Session& root, const ModelName& model) {
  if (result.advice.empty() || !can_be_talked_to(root)) return;
  result.advice += fmt::format("; or in a chat: `deputy chat --model {} --resume {}`",
                               shell_quoted(model.value), root.id.value);
}

}  // namespace

Ended resume_command(Program& program, const ResumeArguments& arguments) {
  TRY(check_flags(program.common));
  TRY(auto signals, Signals::take());  // before the store's thread
  TRY(auto store, program.open_store());
  TRY(const auto root, root_to_resume(*store, arguments));
  if (!root) return nothing_unfinished(program, *store);
  TRY(check_limits(*store, *root, program.common.limits));
  TRY(auto request, request_for(program, *root, std::move(store)));
  TRY(request.terms, terms_to_go_on(*request.engine.store, *root, program.common.limits));
  if (request.terms) {
    TRY(check_terms(*request.engine.store, *root, *request.terms));
    TRY(check_room_to_go_on(*request.engine.store, request.engine.models, *root, *request.terms));
  }
  program.err.write_line(told_at_start(*root));
  const TreeEnd end = run_tree(program, signals, std::move(request));
  TreeResult result = result_of(end);
  add_way_to_talk(result, *root, last_model_of(*root, end.root_events));
  return print_result(program, std::move(result));
}

}  // namespace deputy
