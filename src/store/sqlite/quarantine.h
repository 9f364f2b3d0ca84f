// Whether the journal lacks what was in it before: SQLite leaves out, without a word, what follows a damaged
// place in its log. What is found damaged is copied aside, and the copy compared, before anything is written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "store/sqlite/database.h"

namespace deputy {

// How far journal and inbox have come: it only ever grows. What pruning takes from the one it adds to the
// other.
inline constexpr std::string_view kHowFar =
    "SELECT (SELECT coalesce(max(seq), 0) FROM journal) +"
    " (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name='inbox')";

struct Loss {
  Error told;                 // what was lost or cannot be read, and where the copy is
  std::uint64_t left = 0;     // how far what is left comes
  bool only_to_read = false;  // a page is damaged where new records would go: nothing is written any more
};

// How far it had come, as a DiskMark.
inline constexpr std::string_view kMarkName = "deputy.mark";

struct Look {
  std::optional<Loss> loss;
  // By which it was looked, where there is one: the next to open it while this is open need not read its log.
  std::optional<Database> database;
};

// For before the database is made, or opened to be written.
Result<Look> look_for_loss(const Folder& home);

// Whether every page of the database fits the others; what is in the records is not looked at.
Result<void> check_pages_of(const Folder& home);

// What there is to be moved away by who wants no more of it.
std::string how_to_start_anew(const Folder& home);

struct Copy {
  std::string folder;
  bool is_of_now = true;  // else of when the same damage was met before: a later one is not in it
};

// Copies database and log, as they are at one moment, into a folder under damaged/ and compares. A copy that
// is like them serves; and where `why` tells where the damage was met, so does the older one that was made of
// the same: others may have written since. Where 32 are kept no further one is made; ErrorCode::busy where
// the log was begun anew during each of three tries.
Result<Copy> set_aside(const Folder& home, const Database& database, std::string_view name,
                       std::string_view why);

}  // namespace deputy
