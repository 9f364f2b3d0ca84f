#include "delegation/admission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace deputy {

// A limit is exhausted; a cycle no limit lets pass.
std::optional<Error> refusal_of_child(const Session& parent, const Profile& profile,
                                      const TreeLimits& limits) {
  const int depth = parent.depth + 1;
  if (depth > limits.depth) {
    return Error{ErrorCode::exhausted,
                 fmt::format("depth exceeded: a child here would be at depth {}, the limit is {}", depth,
                             limits.depth),
                 "do the work yourself, or ask the person to raise --max-depth"};
  }
  if (!profile.reentrant && std::ranges::find(parent.path, profile.name) != parent.path.end()) {
    return Error{ErrorCode::denied,
                 fmt::format("cycle: '{}' is already on the path {}, and an agent may stand there once",
                             profile.name, fmt::join(parent.path, " → ")),
                 "choose another agent, or do the work yourself; an agent that may is one whose profile says "
                 "`reentrant: true`"};
  }
  if (limits.live_children == 0 || limits.live_sessions == 0) {
    return Error{ErrorCode::exhausted,
                 fmt::format("budget exhausted: no child may run here, since {} is 0",
                             limits.live_children == 0 ? "--max-children" : "--max-live"),
                 "do the work yourself, or ask the person to raise it"};
  }
  return std::nullopt;
}

}  // namespace deputy
