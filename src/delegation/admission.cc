#include "delegation/admission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace deputy {

std::optional<std::string> refusal_of_child(const Session& parent, const Profile& profile,
                                            const TreeLimits& limits) {
  const int depth = parent.depth + 1;
  if (depth > limits.depth) {
    return fmt::format(
        "depth exceeded: a child here would be at depth {}, the limit is {}. Do the work yourself, or ask "
        "the person to raise --max-depth.",
        depth, limits.depth);
  }
  if (!profile.reentrant && std::ranges::find(parent.path, profile.name) != parent.path.end()) {
    return fmt::format(
        "cycle: '{}' is already on the path {}, and an agent may stand there once. Choose another agent, or "
        "do "
        "the work yourself; an agent that may is one whose profile says `reentrant: true`.",
        profile.name, fmt::join(parent.path, " → "));
  }
  if (limits.live_children == 0 || limits.live_sessions == 0) {
    return fmt::format(
        "budget exhausted: no child may run here, since {} is 0. Do the work yourself, or ask the person to "
        "raise it.",
        limits.live_children == 0 ? "--max-children" : "--max-live");
  }
  return std::nullopt;
}

}  // namespace deputy
