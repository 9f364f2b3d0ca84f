#include "app/commands.h"
#include "app/tree_command.h"
#include "app/tree_result.h"

namespace deputy {

Ended run_command(Program& program, const RunArguments& arguments) {
  TRY(auto model, chosen_model(program));
  TRY(auto prompt, prompt_of(arguments.prompt, "run"));
  TRY(const auto end,
      start_tree(program,
                 {.agent = "main", .label = "main", .prompt = std::move(prompt), .model = std::move(model)}));
  return print_result(program, result_of(end));
}

}  // namespace deputy
