#include "app/batch_input.h"
#include "app/commands.h"
#include "app/tree_command.h"
#include "app/tree_result.h"

namespace deputy {
namespace {

OrFailure<std::string> prompt_of(const RunArguments& arguments) {
  std::string prompt;
  if (arguments.prompt) {
    prompt = *arguments.prompt;
  } else if (terminals_of_process().in) {
    return misused("there is no prompt", "give it as an argument, or on stdin: echo … | deputy run");
  } else {
    TRY(prompt, or_misused(read_stdin(kMostPromptBytes)));
  }
  TRY(or_misused(check_prompt(prompt, "the prompt")));
  return prompt;
}

}  // namespace

Ended run_command(Program& program, const RunArguments& arguments) {
  TRY(auto model, chosen_model(program));
  TRY(auto prompt, prompt_of(arguments));
  TRY(const auto end,
      start_tree(program,
                 {.agent = "main", .label = "main", .prompt = std::move(prompt), .model = std::move(model)}));
  return print_result(program, result_of(end));
}

}  // namespace deputy
