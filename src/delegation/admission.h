// Whether a tree takes another child: one pure decision over what is in use. Each refusal names the limit,
// its value, what is in use, and how to raise it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "transcript/limits.h"
#include "transcript/profile.h"
#include "transcript/session.h"

namespace deputy {

// Nothing when the child may be created.
std::optional<std::string> refusal_of_child(const Session& parent, const Profile& profile,
                                            const TreeLimits& limits, int delegations_so_far);

}  // namespace deputy
