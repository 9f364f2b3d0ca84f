// Whether a small script on a command line, of sed or awk, only changes the text that passes through it.
// Taken for tame is what is plainly so; the rest is treated as code.
#pragma once

#include <span>

#include "guard/shell.h"

namespace deputy {

// Commands of sed that run nothing and write to no other file: addresses with p, d, q, a text or the like, or
// a substitution without e and w.
bool is_tame_sed(std::span<const ShellWord> words);
// A program of awk that calls nothing, pipes nothing and writes to no file.
bool is_tame_awk(std::span<const ShellWord> words);

}  // namespace deputy
