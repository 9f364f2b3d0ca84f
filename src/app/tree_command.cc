#include "app/tree_command.h"

#include <fmt/format.h>

#include "app/model_choice.h"
#include "delegation/profiles.h"
#include "model/command.h"

namespace deputy {
namespace {

constexpr std::string_view kTool = "Delegate";

std::unexpected<Failure> refused(std::string message, std::string advice) {
  return std::unexpected(
      Failure({ErrorCode::exhausted, std::move(message), std::move(advice)}, ExitStatus::refused));
}

OrFailure<void> check_live_limit(const TreeLimits& limits) {
  if (limits.live_sessions > 0) return {};
  return refused("--max-live is 0: not even the first session may run", "raise --max-live");
}

}  // namespace

OrFailure<ModelName> chosen_model(const Program& program) {
  return or_misused(wanted_model(program.common, program.environment, program.disk.current_folder()));
}

void tell_of_rehearsal(Program& program, const ModelName& model) {
  if (!is_rehearsal(model)) return;
  program.err.write_line(
      "deputy: this is the rehearsal model: a rule-based planner, not a language model (choose another with "
      "--model)");
}

OrFailure<void> check_batch_limits(const TreeLimits& limits) {
  TRY(check_live_limit(limits));
  if (limits.live_children == 0)
    return refused("--max-children is 0: no child may run", "raise --max-children");
  const auto profiles = Profiles::built_in();
  TRY(const auto* command, profiles.find("command"));
  TRY(const auto* reader, profiles.find("reader"));
  Session root;
  root.path = {command->name};
  if (auto refusal = refusal_of_child(root, *reader, limits, 0)) return refused(*std::move(refusal), "");
  return {};
}

RootWork batch_work(const Program& program, const json::object& batch, ModelName model) {
  RootWork work{.agent = "command",
                .label = "delegate",
                .prompt = command_input(kTool, to_json_text(batch)),
                .rules = program.common.rules,
                .model = std::move(model)};
  work.rules.push_back({.decision = Decision::allow, .tool = std::string(kTool)});
  return work;
}

OrFailure<TreeEnd> start_tree(Program& program, RootWork work) {
  TRY(check_live_limit(program.common.limits));
  TRY(auto workspace, program.workspace());
  TRY(auto models, or_misused(models_for(work.model, program.loop, program.disk)));
  TRY(auto signals, Signals::take());  // before the store's thread
  TRY(auto store, program.open_store());
  tell_of_rehearsal(program, work.model);
  RootBrief root{.agent = std::move(work.agent),
                 .brief = {.label = std::move(work.label), .prompt = std::move(work.prompt)},
                 .model = std::move(work.model),
                 .workspace = std::move(workspace),
                 .rules = Rules(std::move(work.rules))};
  return run_tree(program, signals, {std::move(root), std::move(models), std::move(store)});
}

}  // namespace deputy
