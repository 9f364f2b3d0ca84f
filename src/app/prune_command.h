// Removes what was kept of trees that have ended, or says what would go.
#pragma once

#include <vector>

#include "app/failure.h"
#include "app/program.h"
#include "transcript/session.h"

namespace deputy {

struct EndedTree {
  Session root;
  WallTime ended_at;  // when the last of its sessions was heard of
};

// The trees of which all sessions have ended and nothing was heard since `before`, the oldest first.
std::vector<EndedTree> ended_before(WallTime before, const std::vector<Session>& sessions);

Ended prune_sessions(Program& program, const Store& store, const SessionsArguments& arguments);

}  // namespace deputy
