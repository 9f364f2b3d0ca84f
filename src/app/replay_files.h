// The files that a replay looks for: nothing else of a workspace is in a bundle.
#pragma once

#include <vector>

#include "base/disk.h"
#include "transcript/event.h"

namespace deputy {

// What reports name is there to be found, though nobody looks what is in it; what was put before a child's
// prompt is read again, and is what it was then.
Result<void> put_files(const Disk& disk, const std::vector<Event>& events);

}  // namespace deputy
