// Since when the time of each session stands still, of a tree that no process runs: since a person was asked,
// or since a process left the session and none has gone on with it.
#pragma once

#include <map>
#include <vector>

#include "transcript/event.h"

namespace deputy {

// By all that was recorded of the tree.
std::map<SessionId, WallTime> still_since(const std::vector<Event>& events);

}  // namespace deputy
