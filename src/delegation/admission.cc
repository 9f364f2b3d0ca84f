#include "delegation/admission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace deputy {

std::optional<std::string> refusal_of_child(const Session& parent, const Profile& profile,
                                            const TreeLimits& limits, int delegations_so_far) {
  const int depth = parent.depth + 1;
  if (depth > limits.depth) {
    return fmt::format(
        "depth exceeded: a child here would be at depth {}, the limit is {}. Do the work yourself, or ask "
        "the person to raise "
        "--max-depth.",
        depth, limits.depth);
  }
  if (!profile.reentrant && std::ranges::find(parent.path, profile.name) != parent.path.end()) {
    return fmt::format(
        "cycle: '{}' is already on the path {}. Choose another agent, or do the work yourself.", profile.name,
        fmt::join(parent.path, " → "));
  }
  if (limits.live_children == 0 || limits.live_sessions == 0) {
    return fmt::format(
        "budget exhausted: no child may run here, since {} is 0. Do the work yourself, or ask the "
        "person "
        "to raise it.",
        limits.live_children == 0 ? "--max-children" : "--max-live");
  }
  if (delegations_so_far >= limits.delegations) {
    return fmt::format(
        "budget exhausted: this tree has made {} of {} delegations. Finish with what you have, or ask the "
        "person to raise "
        "--max-delegations.",
        delegations_so_far, limits.delegations);
  }
  return std::nullopt;
}

}  // namespace deputy
