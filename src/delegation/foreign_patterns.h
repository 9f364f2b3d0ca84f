// Patterns of paths and commands as other programs write them, in the words of our rules (guard/rules.h), and
// never less strict than there: what denies or asks means at least what it means there, what allows at most
// that. What comes out may still be no pattern of ours; parse_rule says so.
#pragma once

#include <string>
#include <string_view>

#include "guard/verdict.h"

namespace deputy {

// opencode: `*` is any characters, `/` too, `?` is one, all else is itself, and the whole path or command
// must fit. Paths are absolute or begin in the project. Empty where no pattern of ours is like it, as for a
// tool whose patterns are about something else here.
std::string opencode_pattern(std::string_view tool, std::string_view theirs, Decision decision);

// Claude Code: paths as in a .gitignore: `/src` is the project's, `//etc` is absolute, a name without a slash
// is meant in every folder, braces are themselves. Commands as ours.
std::string claude_pattern(std::string_view tool, std::string_view theirs, Decision decision);

}  // namespace deputy
