#include <fmt/format.h>

#include "app/commands.h"
#include "app/session_text.h"
#include "app/tree_command.h"
#include "app/tree_result.h"
#include "model/rehearsal_plan.h"

namespace deputy {
namespace {

json::object demo_batch() {
  json::object batch{{"concurrency", 3}};
  auto& tasks = batch["tasks"].emplace_array();
  for (const auto& task : demo_tasks())
    tasks.emplace_back(json::object{{"label", task.label}, {"prompt", task.prompt}});
  return batch;
}

// It must work on a machine where a model was set up wrongly, so only the flag can choose another.
OrFailure<ModelName> demo_model(Program& program) {
  return program.common.model ? chosen_model(program) : ModelName("rehearsal");
}

void tell_where_to_look(Program& program, const TreeEnd& end) {
  const auto children = children_of(end.root, end.sessions);
  if (children.empty()) return;
  std::string text = "\nAll of it was kept. Look at it with:\n";
  const auto tell = [&](std::string_view what, const std::string& arguments) {
    text += fmt::format("  {:<26}{}\n", what, program.command_line(arguments));
  };
  tell("the tree", fmt::format("sessions tree {}", end.root.value));
  tell("the notes of all three", fmt::format("sessions notes {}", end.root.value));
  for (const auto& child : children) {
    tell(fmt::format("what [{}] did", child.label), fmt::format("sessions transcript {}", child.id.value));
  }
  if (const auto home = program.open_home()) {
    text += fmt::format("The same as files: {}\n", join_path((*home)->path(), "subagent"));
  }
  program.err.write(text);
}

}  // namespace

Ended demo_command(Program& program) {
  TRY(auto model, demo_model(program));
  TRY(const auto limits, program.limits());
  TRY(check_batch_limits(limits));
  TRY(const auto end, start_tree(program, batch_work(demo_batch(), std::move(model))));
  auto ended = print_result(program, result_of(end));
  tell_where_to_look(program, end);
  return ended;
}

}  // namespace deputy
