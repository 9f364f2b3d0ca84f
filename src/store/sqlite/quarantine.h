// Whether the journal lacks what was in it before: SQLite leaves out, without a word, what follows a damaged
// place in its log. What is found damaged is copied aside, and the copy compared, before anything is written.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/disk.h"
#include "base/disk_mark.h"

namespace deputy {

// For before the database is opened to be written. `mark` is how far the journal had come. Tells what was
// lost, and where the copy is; nothing where nothing was.
Result<std::optional<Error>> look_for_loss(const Folder& home, DiskMark& mark, WallTime now);

}  // namespace deputy
