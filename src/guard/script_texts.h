// Whether a small script on a command line, of sed or awk, only prints. Taken for tame is what is plainly so;
// the rest is treated as code.
#pragma once

#include <span>

#include "guard/shell.h"

namespace deputy {

// One command of sed: addresses and p, d, q, =, or a substitution without e and w. Not in place.
bool is_tame_sed(std::span<const ShellWord> words);
// A program of awk that calls nothing, pipes nothing and writes to no file.
bool is_tame_awk(std::span<const ShellWord> words);

}  // namespace deputy
