// What dead processes left in the state folder, and what has grown old there. Blocking, on a connection of
// its own: for the pool, beside stores that are in use, off the way of whatever is started.
#pragma once

#include "base/clock.h"
#include "base/disk.h"

namespace deputy {

inline constexpr std::chrono::hours kKeptFor{24 * 7};

// Seals the transcripts that their process did not: of sessions that ended, as they ended; of those that
// nobody runs any more, as interrupted. To resume one opens it again.
Result<void> seal_leftovers(const Folder& home);

// Removes transcripts and scratchpads that were last changed more than kKeptFor ago, but none of a session
// that has not ended or that the database does not know; and, of sessions that have ended, what their
// commands left for a restart.
Result<void> prune_files(const Folder& home, WallTime now);

}  // namespace deputy
