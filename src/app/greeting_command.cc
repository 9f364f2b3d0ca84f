#include "app/commands.h"

namespace deputy {
namespace {

constexpr std::string_view kPage =
    R"(deputy hands work from one agent to others, side by side, and keeps all they did.

  deputy demo                        three children over the current folder; no key, no network
  deputy delegate --task LABEL=PROMPT   a batch of children straight from the shell
  deputy run PROMPT                  one agent, which may delegate
  deputy sessions ls                 what was done before
  deputy doctor                      what works on this machine
  deputy --help                      everything else
)";

}  // namespace

Ended greeting_command(Program& program) {
  program.out.write(kPage);
  return ExitStatus::completed;
}

}  // namespace deputy
