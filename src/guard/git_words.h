// What a command of git may do beside what its subcommand says, as far as its words tell: a part of
// programs.h.
#pragma once

#include <cstddef>
#include <span>

#include "guard/shell.h"

namespace deputy {

// Whether its words make it run something that none of them tells plainly.
bool git_runs_hidden_code(std::span<const ShellWord> words);
// Whether its subcommand may be an alias, or makes one or any other setting.
bool git_may_run_anything(std::span<const ShellWord> words);
// As is_tame() of programs.h.
bool git_is_tame(std::span<const ShellWord> words, std::size_t covered);

}  // namespace deputy
