// The files that a replay looks for: nothing else of a workspace is in a bundle.
#pragma once

#include <string_view>
#include <vector>

#include "base/disk.h"
#include "transcript/event.h"

namespace deputy {

// What reports name is there to be found, though nobody looks what is in it; what was put before a child's
// prompt is read again, and is what it was then.
Result<void> put_files(const Disk& disk, const std::vector<Event>& events);
// Nothing where it lies outside: then it did too.
void put_file(const Folder& workspace, std::string_view path, std::string_view text);

}  // namespace deputy
