// A command and those that it carries, one after the other. A part of programs.h.
#pragma once

#include <cstddef>

#include "guard/programs.h"

namespace deputy {

// More words than that are not looked through for a command among them.
inline constexpr std::size_t kMostCarried = 64;

// It, and what it carries or may carry.
void for_each_command_in(ShellWords words, const auto& act) {
  while (const auto inner = carried_command(words)) {
    act(words);
    words = words.subspan(*inner);
  }
  const std::size_t views = carries_command(words) ? words.size() : 1;
  for (std::size_t at = 0; at < views; ++at) act(words.subspan(at));
}

bool any_command_in(ShellWords words, const auto& is_so) {
  bool found = false;
  for_each_command_in(words, [&](ShellWords seen) { found = found || is_so(seen); });
  return found;
}

}  // namespace deputy
