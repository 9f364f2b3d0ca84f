#include <fmt/format.h>

#include "app/commands.h"
#include "app/session_lookup.h"
#include "app/welcome.h"
#include "base/json.h"

namespace deputy {
namespace {

struct Offer {
  std::string_view arguments;
  std::string_view about;
};
constexpr Offer kOffers[] = {
    {"chat", "talk to it, on a terminal"},
    {"demo", "three children over the current folder; no key, no network"},
    {"delegate --task LABEL=PROMPT", "a batch of children straight from the shell"},
    {"run PROMPT", "one agent, which may delegate"},
    {"sessions ls", "what was done before"},
    {"doctor", "what works on this machine"},
    {"--help", "everything else"},
};

std::string page(const Program& program) {
  std::string text = "deputy hands work from one agent to others, side by side, and keeps all they did.\n\n";
  for (const auto& [arguments, about] : kOffers)
    text += fmt::format("  {:<38} {}\n", program.command_line(arguments), about);
  return text;
}

Result<std::vector<Session>> unfinished(Program& program) {
  if (!program.keeps_anything()) return {};
  TRY(const auto store, program.open_store(Program::StoreUse::read));
  return left_unfinished(*store);
}

}  // namespace

Ended greeting_command(Program& program) {
  if (program.common.output == OutputForm::text) program.out.write(page(program));
  TRY(const auto roots, unfinished(program));
  if (program.common.output != OutputForm::text) {
    json::array ids;
    for (const Session& root : roots) ids.emplace_back(root.id.value);
    program.print(json::object{{"text", page(program)}, {"unfinished", std::move(ids)}});
    return ExitStatus::completed;
  }
  constexpr std::size_t kUnbroken = 1000;  // for a program that reads it; a terminal breaks it by itself
  for (const auto& line : unfinished_lines(roots, ReadIn::shell, kUnbroken))
    program.out.write_line(program.as_typed_here(plain_text(line)));
  return ExitStatus::completed;
}

}  // namespace deputy
