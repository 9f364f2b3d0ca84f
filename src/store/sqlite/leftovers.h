// What dead processes left in the state folder, and what has grown old there. Blocking, on a connection of
// its own: for the pool, beside stores that are in use, off the way of whatever is started.
#pragma once

#include "base/clock.h"
#include "base/disk.h"
#include "transcript/ids.h"

namespace deputy {

inline constexpr std::chrono::hours kKeptFor{24 * 7};
inline constexpr std::chrono::hours kPrunedEvery{1};

// Among so many records, the last of all, is the end of whoever was killed right behind it.
inline constexpr int kLastRecords = 1024;

struct Leftover {
  SessionId session;
  SessionId tree;
  auto operator<=>(const Leftover&) const = default;
};

// Whose transcripts have not been sealed; also where there is none, or one of an earlier run: that is what a
// kill between a commit and its export leaves. Of the trees that have not ended and that nobody runs, and of
// what ended among the last records, as far as its file was begun: what that takes does not grow with what
// ever was. Where files are to be pruned as well all of them are looked at, and all sessions. The seal of one
// that was left is not made twice.
Result<std::vector<Leftover>> unsealed_transcripts(const Folder& home, WallTime now);

// Seals one where its process did not: of a session that ended, as it ended; of one that nobody runs any
// more, as interrupted. To resume one opens it again. Nobody can write to the database meanwhile.
Result<void> seal_leftover(const Folder& home, const Leftover& left);

// Removes transcripts and scratchpads that were last changed more than kKeptFor ago, but none of a session
// that has not ended or that the database does not know; and, as old, what their commands left for a restart.
// Nothing where that was done less than kPrunedEvery ago.
Result<void> prune_files(const Folder& home, WallTime now);

}  // namespace deputy
