#include <signal.h>

#include "app/chat_run.h"
#include "app/commands.h"
#include "app/session_lookup.h"
#include "app/tree_command.h"
#include "app/welcome.h"

namespace deputy {

Ended chat_command(Program& program, const ChatArguments& arguments) {
  const auto terminals = terminals_of_process();
  if (!terminals.in || !terminals.out) {
    if (!arguments.was_named) return greeting_command(program);
    return misused("the chat needs a terminal to read from and to write to",
                   "without one, `deputy run PROMPT` does one piece of work");
  }
  TRY(auto model, chosen_model(program));
  TRY(const auto offer, program.offer());
  TRY(auto signals, Signals::take());  // before the store's thread
  TRY(auto request, tree_request(program, {.agent = "main", .label = "main", .prompt = "", .model = model}));
  auto& root = std::get<RootBrief>(request.what);
  TRY(const auto* loaded, program.settings());
  const bool is_named = program.common.model || loaded->settings.model;
  auto greeting =
      welcome_lines(model, offer, root.workspace, is_named ? ModelWasNamed::yes : ModelWasNamed::no,
                    [&program](std::string_view text) { return program.as_typed_here(text); });
  TRY(auto unfinished, left_unfinished(*request.engine.store));
  auto resume = arguments.resume;
  if (resume) {
    TRY(const auto session, session_typed(*request.engine.store, *resume));
    resume = session.id.value;
    std::erase_if(unfinished, [&session](const Session& root) { return root.id == session.tree; });
  }
  for (auto& line : unfinished_lines(unfinished, ReadIn::chat)) greeting.push_back(std::move(line));
  request.engine.holds_last = true;
  return run_chat(program, signals,
                  {std::move(root), std::move(request.engine), std::move(greeting), std::move(resume)});
}

}  // namespace deputy
