// Whether a child may stand where it is wanted: a pure decision over the path to it. How many there may be is
// the budget's (budget.h). Each refusal names the limit, its value, what is in use, and how to raise it.
#pragma once

#include <optional>

#include "base/result.h"
#include "transcript/limits.h"
#include "transcript/profile.h"
#include "transcript/session.h"

namespace deputy {

// Nothing where it may.
std::optional<Error> refusal_of_child(const Session& parent, const Profile& profile,
                                      const TreeLimits& limits);

}  // namespace deputy
