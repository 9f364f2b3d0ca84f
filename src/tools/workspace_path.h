// Paths as models write them, and what to tell a model about one that is no good. What a path may reach is
// not decided here, nor by what name it is judged: find_target() does that, with the plain path from here.
#pragma once

#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "tools/sight.h"
#include "tools/target.h"

namespace deputy {

inline constexpr std::size_t kMaxPathBytes = 4096;

// Relative to the workspace, without "." and ".." and doubled slashes; "." for the workspace itself.
Result<std::string> workspace_path(const Folder& workspace, std::string_view given);

// That there is no such file, and what to do instead: names that are near, if they may be shown. Looks at the
// disk.
std::string not_there(const Target& target, const Sight& sight);

// A path on one line, with nothing invisible in it.
std::string shown_path(std::string_view path);

}  // namespace deputy
