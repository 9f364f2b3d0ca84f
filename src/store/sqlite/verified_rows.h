// Before a tree is gone on with: that the view fits the truth, each session of it and all ways to find it.
// What does not is Error::corrupt and names the session; nothing is written.
#pragma once

#include <map>

#include "store/journal.h"
#include "store/sqlite/session_rows.h"

namespace deputy {

using EventsBySession = std::map<SessionId, EventRefs>;

// Each session is there, has all its records, and is found by its id, its delegation and its tree. `rows` are
// those that are found by the tree, of the same state.
Result<std::map<SessionId, SessionRow>> verified_rows(const Database& database, const SessionId& tree,
                                                      const EventsBySession& sessions,
                                                      std::map<SessionId, SessionRow> rows);

}  // namespace deputy
