// The journal's own invariants, the same for every store: a call is intended once, has one result, what comes
// in for a session is delivered to it once, and a run ends once; only the holder of a tree writes to it.
#pragma once

#include "base/result.h"
#include "transcript/event.h"

namespace deputy {

bool must_be_unique(const Fact& fact);
bool same_place_and_kind(const Event& a, const Event& b);
Error recorded_twice(const Event& event);
Error fenced_off(const SessionId& tree);
Error held_elsewhere(const SessionId& tree, std::string_view holder);

}  // namespace deputy
